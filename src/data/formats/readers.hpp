/// The file formats. Internal to the data room: others call open_reader.
#pragma once

#include <memory>
#include <string>

#include "starling/data/source.hpp"

namespace starling {

/// What is wanted of a file.
enum class Part {
  records,   ///< features and labels
  features,  ///< of a pair: every column that has no other use is a feature; labels are 0
  labels,    ///< of a pair: one value per record, the label; no features
};

/// Delimited text. The delimiter is `settings.delimiter` or told from the first line that is not blank: the most
/// frequent of , ; and tab outside quotes, else runs of spaces. That line is a header if `settings.header` says so or
/// if one of the fields that are read as numbers is text there. The label is `settings.label` (a name, or a number from
/// 0), else the first column called y or label in any case, else the last. Throws DataError, and UsageError for columns
/// that are not there.
[[nodiscard]] std::unique_ptr<RecordReader> open_csv(const std::string& path, const ReadSettings& settings, Part part);

/// `label index:value …` with ascending indices from 1; `qid:…` is skipped and # starts a comment. Not in pairs.
[[nodiscard]] std::unique_ptr<RecordReader> open_svmlight(const std::string& path, const ReadSettings& settings,
                                                          Part part);

/// HDF5: `/x`, records × columns, and `/y`, records or records × 1, of any type of number. An attribute `names` of /x
/// names its columns; one of them may be the label in place of /y. Read in slabs of about 1 MB.
[[nodiscard]] std::unique_ptr<RecordReader> open_hdf5(const std::string& path, const ReadSettings& settings, Part part);

/// IDX, as MNIST's: bytes 0 0 type rank, sizes and values in big endian. The first size counts records, the others are
/// flattened. Labels stand in a second file.
[[nodiscard]] std::unique_ptr<RecordReader> open_idx(const std::string& path, const ReadSettings& settings, Part part);

/// Joins the features of one file with the labels of another, which are held in memory (8 bytes each). `source` names
/// both in messages. Throws DataError if there are not as many of both: at once where the numbers are known, else
/// where the first ends.
[[nodiscard]] std::unique_ptr<RecordReader> join_pair(std::string source, std::unique_ptr<RecordReader> features,
                                                      RecordReader& labels);

/// Applies `settings.standardise`: x becomes (x − mean)/sd, and the label too if it has a line. `reader` itself where
/// it is empty. Throws UsageError for sparse records, beside `scale`, and for a label's line beside `ignore` and
/// `positive`; DataError for a file that is no such table, for a feature without a line or with two, for a line without
/// a feature and for an sd that is not positive.
[[nodiscard]] std::unique_ptr<RecordReader> standardise(std::unique_ptr<RecordReader> reader,
                                                        const ReadSettings& settings);

/// Applies `settings.features`: the records of `reader` are pictures, each of which is described by its own
/// GradientHistogram. `reader` itself for raw features. Throws UsageError beside `standardise`, for sparse records of
/// unknown width, and for records that are no square pictures.
[[nodiscard]] std::unique_ptr<RecordReader> describe_pictures(std::unique_ptr<RecordReader> reader,
                                                              const ReadSettings& settings);

/// Applies `settings.ignore`, `positive`, `scale`, `standardise` and `features`; `reader` itself where none is asked
/// for. Throws UsageError.
[[nodiscard]] std::unique_ptr<RecordReader> prepare(std::unique_ptr<RecordReader> reader, const ReadSettings& settings);

/// Text that arrives through a pipe or, as "-", on standard input: CSV, or SVMlight where the name or `settings.format`
/// says so. Waits for its first line. Marks do not work. Throws as open_reader does.
[[nodiscard]] std::unique_ptr<RecordReader> open_live_reader(const std::string& path, const ReadSettings& settings);

}  // namespace starling
