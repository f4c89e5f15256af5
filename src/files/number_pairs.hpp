/// Small files of two columns: the number of a round or a client, and a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace starling {

struct NumberPair {
  std::int64_t key = 0;
  double value = 0;
  std::size_t line = 0;  ///< line of the file, from 1
};

/// Reads lines `key,value` in the order of the file. Keys are whole numbers from 0; values are numbers or ratios. Empty
/// lines, lines that begin with #, and a first line with column names are skipped. Throws UsageError naming file and
/// line.
[[nodiscard]] std::vector<NumberPair> read_number_pairs(const std::string& path);

}  // namespace starling
