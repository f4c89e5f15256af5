/// The logistic function.
#pragma once

#include <cmath>

namespace starling {

/// 1 / (1 + e^{−score}), without overflow; within a few units in the last place.
[[nodiscard]] inline double logistic(double score) {
  const double small = std::exp(-std::abs(score));
  return (score < 0 ? small : 1) / (1 + small);
}

}  // namespace starling
