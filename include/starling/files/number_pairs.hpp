/// Small files of two columns: a number of a round or a client, and a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace starling {

struct NumberPair {
  std::int64_t key = 0;
  double value = 0;
  std::size_t line = 0;  ///< where it stands, from 1
};

/// Reads lines `key,value` in the file's order: keys are whole numbers from 0, values numbers or ratios. Empty lines
/// and lines that begin with # are skipped, and so is a first line that names the columns. Throws UsageError naming
/// file and line.
[[nodiscard]] std::vector<NumberPair> read_number_pairs(const std::string& path);

}  // namespace starling
