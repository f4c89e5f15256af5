/// Range of numbers that can be clipped exactly.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/columns.hpp"

namespace starling {

/// Largest norm of a gradient or row in range. Beyond it a clip factor could underflow and a sum overflow
/// (docs/methods/privacy.md).
inline constexpr double largest_clippable_norm = 1e150;

inline bool all_finite(View values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace starling
