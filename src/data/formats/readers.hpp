/// Readers of the file formats, and readers that prepare records. Other modules call open_reader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace starling {

/// The part of a file to read.
enum class Part {
  records,   ///< features and labels
  features,  ///< of a pair: every column that has no other use is a feature; labels are 0
  labels,    ///< of a pair: one value per record, the label; no features
};

/// Reader of delimited text, whose head is read as layout.hpp says. The first line of the table is a header if
/// `settings.header` says so, or if a field to be read as a number is text. The label is `settings.label` (a name, or a
/// number from 0), else the first column called y or label in any case, else the last column. Throws DataError, and
/// UsageError for missing columns.
[[nodiscard]] std::unique_ptr<RecordReader> open_csv(const std::string& path, const ReadSettings& settings, Part part);

/// Notes on the layout of a file that open_csv reads, where it is read otherwise than it stands there.
[[nodiscard]] std::vector<std::string> notes_on_csv(const std::string& path, const ReadSettings& settings, Part part);

/// Reader of a table of public constants: delimited text with a line of names, whose columns that are neither label,
/// key nor dropped are `features`. Null where it has others, or lacks a column that `settings` names. Throws UsageError
/// for a file that cannot be opened, with the option that names it.
[[nodiscard]] std::unique_ptr<RecordReader> open_constants(const std::string& option, const std::string& path,
                                                           ReadSettings settings, Part part,
                                                           const std::vector<std::string>& features);
/// Reader of SVMlight text: `label index:value …` with ascending indices from 1. `qid:…` is skipped and # starts a
/// comment. Pairs of files are not supported.
[[nodiscard]] std::unique_ptr<RecordReader> open_svmlight(const std::string& path, const ReadSettings& settings,
                                                          Part part);

/// Reader of HDF5: `/x`, records × columns, and `/y`, records or records × 1, of any numeric type. An attribute `names`
/// of /x names the columns; one of them may be the label in place of /y. Reads slabs of about 1 MB.
[[nodiscard]] std::unique_ptr<RecordReader> open_hdf5(const std::string& path, const ReadSettings& settings, Part part);

/// Reader of IDX, the format of MNIST: bytes 0 0 type rank, then sizes and values in big endian. The first size is the
/// number of records, the others are flattened. Labels come from a second file.
[[nodiscard]] std::unique_ptr<RecordReader> open_idx(const std::string& path, const ReadSettings& settings, Part part);

/// Reader of .npy, an array of records × columns of numbers: the label is `settings.label` (a number from 0), else the
/// last column. Read in slabs; a gzipped file and an array in Fortran order are kept in memory.
[[nodiscard]] std::unique_ptr<RecordReader> open_npy(const std::string& path, const ReadSettings& settings, Part part);

/// Reader of .npz, an archive with the arrays X (records × columns) and y (a label for each record), and with the names
/// of the columns in `features` if they have some; one of these may be the label in place of y.
[[nodiscard]] std::unique_ptr<RecordReader> open_npz(const std::string& path, const ReadSettings& settings, Part part);

/// Reader of records in memory (data/memory_records.hpp).
[[nodiscard]] std::unique_ptr<RecordReader> open_memory(const std::string& source, const ReadSettings& settings);

/// Joins the features of one file with the labels of another, which stay in memory (8 bytes each). Messages name the
/// pair as `source`. Throws DataError if their numbers of records differ: at once if the numbers are known, else where
/// the first file ends.
[[nodiscard]] std::unique_ptr<RecordReader> join_pair(std::string source, std::unique_ptr<RecordReader> features,
                                                      RecordReader& labels);

/// Puts dense features with names into the order of a saved model, or of `settings.columns`. Returns `reader` itself
/// where the order is the same, or one of the two has no names. Throws DataError for another number of dense features
/// than a model has.
[[nodiscard]] std::unique_ptr<RecordReader> order_features(std::unique_ptr<RecordReader> reader,
                                                           const ReadSettings& settings);

/// The rule for missing values: of `settings`, or of the saved model there. A reader gives NaN for a missing feature
/// unless the rule is to refuse it.
[[nodiscard]] ReadSettings::Missing missing_rule(const ReadSettings& settings);

/// Applies `settings.missing_constants`: NaN becomes the column's constant. Returns `reader` itself without such a
/// file. Throws UsageError for sparse records under any rule but to refuse. Throws the errors of read_column_table.
[[nodiscard]] std::unique_ptr<RecordReader> fill_missing(std::unique_ptr<RecordReader> reader,
                                                         const ReadSettings& settings);

/// Applies `settings.standardise`: x becomes (x − mean)/sd; or `settings.ranges`: x is clipped to its range, which is
/// mapped to [−1, 1]. A label with a line is scaled too. NaN stays. Returns `reader` itself without such a file. Throws
/// UsageError for sparse records, beside `scale`, for both files, and for a label's line beside `ignore` or `positive`.
/// Throws the errors of read_column_table, and DataError for an sd or a width that is not positive.
[[nodiscard]] std::unique_ptr<RecordReader> scale_columns(std::unique_ptr<RecordReader> reader,
                                                          const ReadSettings& settings);

/// Makes features of columns: a number of each column of numbers (0 for NaN), 0 or 1 for each category of a one-hot
/// column, and with Missing::indicator a further feature of each column, 1 for NaN. Returns `reader` itself where
/// columns are features.
[[nodiscard]] std::unique_ptr<RecordReader> make_features(std::unique_ptr<RecordReader> reader,
                                                          const ReadSettings& settings);

/// Applies `settings.features`: replaces each picture by its GradientHistogram. Returns `reader` itself for raw
/// features. Throws UsageError beside `standardise`, `ranges`, `missing` and one-hot categories, for sparse records of
/// unknown width, and for records that are no square pictures.
[[nodiscard]] std::unique_ptr<RecordReader> describe_pictures(std::unique_ptr<RecordReader> reader,
                                                              const ReadSettings& settings);

/// Applies `settings.ignore`, `positive`, `missing`, `standardise`, `ranges`, `encoding`, `scale`, `features` and
/// `missing_key`; returns `reader` itself without any of them. Throws UsageError.
[[nodiscard]] std::unique_ptr<RecordReader> prepare(std::unique_ptr<RecordReader> reader, const ReadSettings& settings);

/// Reader of text from a pipe or, for "-", from standard input. The format is CSV, or SVMlight if the name or
/// `settings.format` says so. Waits for the first line. Marks do not work. Throws the errors of open_reader.
[[nodiscard]] std::unique_ptr<RecordReader> open_live_reader(const std::string& path, const ReadSettings& settings);

}  // namespace starling
