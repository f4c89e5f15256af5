// What can be clipped exactly. Internal to the model room.
#pragma once

#include <algorithm>
#include <cmath>

#include "starling/core/columns.hpp"

namespace starling {

/// Beyond this a clip factor could underflow and a sum overflow: the record is out of range (method 6).
inline constexpr double largest_clippable_norm = 1e150;

inline bool all_finite(View values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace starling
