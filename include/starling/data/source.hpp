/// Sources of labelled records: files read in order, record by record.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "starling/core/batch.hpp"
#include "starling/data/dataset.hpp"

namespace starling {

/// One record; sparse records have indices. The storage belongs to whoever reads and is reused.
struct Record {
  Vector values;
  std::vector<std::int32_t> index;
  bool sparse = false;
  double label = 0;
  [[nodiscard]] Row row() const;
};

/// A file of records that can be read from its start as often as needed.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  /// Reads the next record; false at the end. Throws DataError naming file, row and what is wrong.
  [[nodiscard]] virtual bool next(Record& record) = 0;
  /// Features of dense data; for sparse data `settings.dimension`, or without it the largest index so far, which is
  /// final at the end of a pass.
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Where the last record stood, for messages: "a9a.gz: row 17". Rows are the lines of the file, from 1, with its
  /// header and blank lines counted.
  [[nodiscard]] virtual std::string where() const = 0;
};

/// Opens a CSV or SVMlight file, gzipped or not (told from its content), by the ending of its name or by
/// `settings.format`. Throws DataError; UsageError for an unknown format, a name that tells none, a label column that
/// is not there and, for CSV, a `settings.dimension` that is not the file's.
[[nodiscard]] std::unique_ptr<RecordReader> open_reader(const std::string& path, const DataSettings& settings);

}  // namespace starling
