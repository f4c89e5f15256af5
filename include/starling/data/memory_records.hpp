/// Records in the memory of a process that embeds starling, as a source: `--source memory:NAME`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// Records that stand in memory and do not change while they are read: dense ones, or a table of text. Strides are
/// counted in doubles and may be negative.
struct MemoryRecords {
  std::size_t records = 0;
  std::size_t columns = 0;
  const double* x = nullptr;  ///< records × columns
  std::ptrdiff_t x_row = 0;
  std::ptrdiff_t x_column = 1;
  const double* y = nullptr;  ///< labels; null where a column of x has them, or nothing
  std::ptrdiff_t y_row = 1;
  std::vector<std::string> names = {};          ///< of the columns; empty where they have none
  std::shared_ptr<const void> owner = nullptr;  ///< keeps the memory
  /// Path of a file of CSV with a line of names, which may be one in memory (memfd_create); in place of all numbers.
  std::string table = "";
  bool labels_beside = false;  ///< whether labels were given beside the features of a table, whose column y has them

  [[nodiscard]] double at(std::size_t record, std::size_t column) const {
    return x[static_cast<std::ptrdiff_t>(record) * x_row + static_cast<std::ptrdiff_t>(column) * x_column];
  }
  [[nodiscard]] double label(std::size_t record) const { return y[static_cast<std::ptrdiff_t>(record) * y_row]; }
};

/// Makes records known in this process as `memory:NAME` while the object lives. With a name like `part-3` they are
/// client 3's of `memory:part-{client}`.
class OfferedRecords {
 public:
  /// Throws UsageError for a name that is taken or contains a comma or braces.
  OfferedRecords(std::string name, MemoryRecords records);
  ~OfferedRecords();
  OfferedRecords(const OfferedRecords&) = delete;
  OfferedRecords& operator=(const OfferedRecords&) = delete;

 private:
  std::string name_;
};

/// Whether a source stands in memory.
[[nodiscard]] bool is_in_memory(std::string_view source);

/// The records of the source `memory:NAME`. Throws UsageError if nothing has the name.
[[nodiscard]] const MemoryRecords& records_in_memory(const std::string& source);

/// The path of a file, or of the table of text that a source in memory is.
[[nodiscard]] std::string path_in_memory(const std::string& source);

/// SHA-256 of the table of text, or of the numbers of a source in memory, and of the names of columns.
[[nodiscard]] std::string digest_of_memory(const std::string& source);

}  // namespace starling
