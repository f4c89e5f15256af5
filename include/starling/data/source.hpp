/// Sources of labelled records: files read in order, record by record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/data/settings.hpp"

namespace starling {

/// One record; sparse records have indices. The storage belongs to whoever reads and is reused.
struct Record {
  Vector values;
  std::vector<std::int32_t> index;
  bool sparse = false;
  double label = 0;
  bool left_out = false;  ///< --ignore: it keeps its place among the records and is not learned from
  std::string key;        ///< text of the column `ReadSettings::key`; empty where none is asked for
  [[nodiscard]] Row row() const;
};

/// A place in a source to which its reader can go back.
struct Mark {
  std::uint64_t offset = 0;  ///< in bytes after decompression, or in records
  std::int64_t row = 0;      ///< of the last row before it
};

/// A source of records that can be read from its start as often as needed.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  /// Reads the next record; false at the end. Throws DataError naming file, row and what is wrong.
  [[nodiscard]] virtual bool next(Record& record) = 0;
  /// The same for the label and the key alone, where the format allows to leave the features unread; the rest of
  /// `record` is then unspecified.
  [[nodiscard]] virtual bool next_label(Record& record) { return next(record); }
  /// Features of dense data; for sparse data `settings.dimension`, or without it the largest index so far, which is
  /// final at the end of a pass.
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Whether records are sparse.
  [[nodiscard]] virtual bool sparse() const { return false; }
  /// Names of the features where the source has them; else empty.
  [[nodiscard]] virtual std::vector<std::string> names() const { return {}; }
  /// Of the label's column, where it has one; else empty.
  [[nodiscard]] virtual std::string label_name() const { return {}; }
  /// Where the last record stood, for messages: "a9a.gz: row 17". Rows are the lines of the file, from 1, with its
  /// header and blank lines counted; of a binary file or a pair, records from 1.
  [[nodiscard]] virtual std::string where() const = 0;
  /// The place of the record that `next` would read.
  [[nodiscard]] virtual Mark mark() const = 0;
  /// Back (or on) to a place that `mark` has given. Throws DataError.
  virtual void seek(const Mark& mark) = 0;
  /// The number of records, where it is known without reading them. Then record i, from 0, is at Mark{i, i}.
  [[nodiscard]] virtual std::optional<std::int64_t> records() const { return std::nullopt; }
};

/// The records of `reader` that are not left out, one after the other, where nobody else has to know their places.
[[nodiscard]] std::unique_ptr<RecordReader> without_left_out(std::unique_ptr<RecordReader> reader);

/// The files of a source that is one file or a pair `FEATURES,LABELS`. A comma that is part of a file's own name
/// separates nothing. Throws UsageError for what is neither.
[[nodiscard]] std::vector<std::string> files_of(const std::string& source);

/// Throws DataError if one of a source's files is there and is no regular file: a pipe could not be read twice, nor by
/// several ranks.
void require_regular(const std::string& source);

/// Throws DataError if both sides name their features and do so differently: columns are told by their place.
void require_same_names(const std::vector<std::string>& names, const std::vector<std::string>& others,
                        const std::string& whose, const std::string& whose_others);

/// Opens a file, or a pair of files `FEATURES,LABELS` of as many records each. Text may be gzipped (told from its
/// content), binary files too where their format says so. The format is told by the ending of the name, else by
/// the content, or is `settings.format`. `settings.ignore`, `positive`, `scale`, `standardise` and `features` are
/// applied. Throws DataError; UsageError for a file that cannot be opened, an unknown format, for columns that are not
/// there, for records that are not what `features` describes and, for dense formats, a `settings.dimension` that is not
/// the file's.
[[nodiscard]] std::unique_ptr<RecordReader> open_reader(const std::string& source, const ReadSettings& settings);

}  // namespace starling
