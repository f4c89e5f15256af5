/// The standard normal distribution.
#pragma once

namespace starling {

/// Probability of at most `x`.
[[nodiscard]] double normal_cdf(double x);
/// The point with `probability` below it; infinite at 0 and 1.
[[nodiscard]] double normal_quantile(double probability);
/// The point z > 0 with `level` between −z and z, 0 < level < 1.
[[nodiscard]] double two_sided_normal_quantile(double level);

}  // namespace starling
