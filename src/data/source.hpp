/// Sources of labelled records: files read in order, record by record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "data/constants.hpp"
#include "data/settings.hpp"

namespace starling {

/// One record; a sparse record has indices. Readers reuse the storage.
struct Record {
  Vector values;
  std::vector<std::int32_t> index;
  bool sparse = false;
  double label = 0;
  bool left_out = false;  ///< `--ignore`, `--missing-person drop`: the record keeps its place, and adds nothing
  std::string key;        ///< key in the column `ReadSettings::key`; empty without such a column
  [[nodiscard]] Row row() const;
};

/// A place in a source to which its reader can go back.
struct Mark {
  std::uint64_t offset = 0;  ///< in bytes after decompression, or in records
  std::int64_t row = 0;      ///< row before the place
};

/// A source of records that can be read from its start as often as needed.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  /// Reads the next record; false at the end. Throws DataError naming file, row and what is wrong.
  [[nodiscard]] virtual bool next(Record& record) = 0;
  /// Reads the next record's label and key alone if the format can skip the features. The rest of `record` is then
  /// unspecified.
  [[nodiscard]] virtual bool next_label(Record& record) { return next(record); }
  /// Number of features. Without `settings.dimension` sparse data have as many as the largest index so far, which is
  /// final at the end of a pass.
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Whether records are sparse.
  [[nodiscard]] virtual bool sparse() const { return false; }
  /// Names of the features; empty if the source has none.
  [[nodiscard]] virtual std::vector<std::string> names() const { return {}; }
  /// Name of the label's column; empty if it has none.
  [[nodiscard]] virtual std::string label_name() const { return {}; }
  /// Constants by which the features are prepared. The features of a sparse source are final at the end of a pass.
  [[nodiscard]] virtual PublicConstants constants() const;
  /// Place of the last record, for messages: "a9a.gz: row 17". A row is a line of the file, from 1, header and blank
  /// lines included; in a binary file or a pair it is a record, from 1.
  [[nodiscard]] virtual std::string where() const = 0;
  /// Place of the record that `next` would read.
  [[nodiscard]] virtual Mark mark() const = 0;
  /// Goes to a place that `mark` has given. Throws DataError.
  virtual void seek(const Mark& mark) = 0;
  /// Number of records if it is known without reading them. Record i, from 0, is then at Mark{i, i}.
  [[nodiscard]] virtual std::optional<std::int64_t> records() const { return std::nullopt; }
};

/// Reader of those records of `reader` that are not left out, for callers that need no places.
[[nodiscard]] std::unique_ptr<RecordReader> without_left_out(std::unique_ptr<RecordReader> reader);

/// The files of a source: one file, or a pair `FEATURES,LABELS`. A source that exists as a file is one file, whatever
/// commas its name has. Throws UsageError for other texts.
[[nodiscard]] std::vector<std::string> files_of(const std::string& source);

/// Throws DataError if one of a source's files exists and is not a regular file: a pipe cannot be read twice, nor by
/// several ranks.
void require_regular(const std::string& source);

/// Throws DataError if two sources name their features differently. (Features are matched by position.)
void require_same_names(const std::vector<std::string>& names, const std::vector<std::string>& others,
                        const std::string& whose, const std::string& whose_others);

/// Whether a source is one file of delimited text, as its name or content tells. Throws as open_reader does.
[[nodiscard]] bool is_table_of_text(const std::string& source, const ReadSettings& settings);

/// Names of the feature columns of a source, as they stand there; none of a source without names. Throws as
/// open_reader does.
[[nodiscard]] std::vector<std::string> feature_columns(const std::string& source, const ReadSettings& settings);

/// Opens a file, or a pair of files `FEATURES,LABELS` with equally many records. The format is `settings.format`; if
/// that is `auto`, the ending of the name tells the format, else the content. Text may be gzipped, which its content
/// tells, and so may IDX files. Applies `settings.ignore`, `positive`, `scale`, `standardise` and `features`.
///
/// Throws DataError for bad content. Throws UsageError for a file that cannot be opened, an unknown format, a missing
/// column, records that `features` cannot describe, and a `settings.dimension` that is not a dense file's width.
[[nodiscard]] std::unique_ptr<RecordReader> open_reader(const std::string& source, const ReadSettings& settings);

}  // namespace starling
