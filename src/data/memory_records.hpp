/// Records in the memory of a process that embeds starling, as a source: `--source memory:NAME`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/columns.hpp"

namespace starling {

/// Numbers in memory. Whole numbers are keys of records and persons as they stand, where doubles would round them.
using NumbersInMemory = std::variant<const double*, const std::int64_t*, const std::uint64_t*>;

/// Records that stand in memory and do not change while they are read: dense ones, or a table of text. Strides are
/// counted in numbers of 8 bytes and may be negative.
struct MemoryRecords {
  std::size_t records = 0;
  std::size_t columns = 0;
  NumbersInMemory x;  ///< records × columns
  std::ptrdiff_t x_row = 0;
  std::ptrdiff_t x_column = 1;
  const double* y = nullptr;  ///< labels; null where a column of x has them, or nothing
  std::ptrdiff_t y_row = 1;
  std::vector<std::string> names = {};          ///< of the columns; empty where they have none
  std::shared_ptr<const void> owner = nullptr;  ///< keeps the memory
  /// Path of a file of CSV with a line of names, which may be one in memory (memfd_create); in place of all numbers.
  std::string table = "";
  bool labels_beside = false;  ///< whether labels were given beside the features of a table, whose column y has them
  /// Binary digits of the numbers that each column of x was made of; empty: those of x itself.
  std::vector<int> digits = {};

  /// Index of a number in x.
  [[nodiscard]] std::ptrdiff_t place(std::size_t record, std::size_t column) const {
    return static_cast<std::ptrdiff_t>(record) * x_row + static_cast<std::ptrdiff_t>(column) * x_column;
  }
  /// Sets `row` to the numbers of a record.
  void copy(std::size_t record, Vector& row) const {
    row.resize(columns);
    std::visit(
        [&](const auto* numbers) {
          for (std::size_t j = 0; j < columns; ++j) row[j] = static_cast<double>(numbers[place(record, j)]);
        },
        x);
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
