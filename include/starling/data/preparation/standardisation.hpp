/// The public constants of `--standardise`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

/// Constants by which a source's features, and possibly its label, are standardised: x becomes (x − mean)/deviation.
struct Standardisation {
  struct Constants {
    double mean = 0;
    double deviation = 1;  ///< positive
    [[nodiscard]] double standardised(double value) const { return (value - mean) / deviation; }
  };
  std::vector<Constants> features;
  std::optional<Constants> label;
};

/// Reads a file of constants for these features; `names` is empty if they have none. Any other line is the label's.
/// Throws DataError as reading a source with `standardise` does.
[[nodiscard]] Standardisation read_standardisation(const std::string& path, const std::vector<std::string>& names,
                                                   std::size_t features);

}  // namespace starling
