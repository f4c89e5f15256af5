/// Sources of labelled records: files read in order, record by record.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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
  /// Features of dense data; for sparse data the largest index so far. Final at the end of a pass.
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Where the last record stood, for messages: "a9a.gz: row 17".
  [[nodiscard]] virtual std::string where() const = 0;
};

/// Opens a CSV or SVMlight file, gzipped or not, by its name or `settings.format`. Throws DataError.
[[nodiscard]] std::unique_ptr<RecordReader> open_reader(const std::string& path, const DataSettings& settings);

}  // namespace starling
