/// Hazards of an interval of time by their score (docs/methods/counts-and-times.md).
#pragma once

#include <cmath>
#include <numbers>

#include "core/numerics/exponential.hpp"

namespace starling {

/// u = ln 2 e^s, the cumulative hazard of an interval; infinite for large scores.
[[nodiscard]] inline double cumulative_hazard(double score) {
  return std::numbers::ln2 * exponential(score);
}

/// 1 − e^{−u}, the probability of an event in the interval: 1/2 at a score of 0.
[[nodiscard]] inline double event_probability(double score) {
  return -std::expm1(-cumulative_hazard(score));
}

}  // namespace starling
