/// The standard normal distribution.
#pragma once

namespace starling {

/// Probability that a standard normal number is at most `x`.
[[nodiscard]] double normal_cdf(double x);
/// The point below which a standard normal number lies with `probability`; infinite at 0 and 1, and beyond.
[[nodiscard]] double normal_quantile(double probability);
/// The point z such that a standard normal number lies between −z and z with probability `level`, 0 < level < 1.
[[nodiscard]] double two_sided_normal_quantile(double level);

}  // namespace starling
