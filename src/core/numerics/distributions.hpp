/// The standard normal distribution, and quantiles of others.
#pragma once

namespace starling {

/// Probability that a standard normal number is at most `x`.
[[nodiscard]] double normal_cdf(double x);
/// The point below which a standard normal number lies with `probability`; infinite at 0 and 1, and beyond.
[[nodiscard]] double normal_quantile(double probability);
/// The point below which a χ² number of so many degrees of freedom lies with `probability`, 0 < probability < 1.
[[nodiscard]] double chi_squared_quantile(double degrees, double probability);
/// The point z such that a standard normal number lies between −z and z with probability `level`, 0 < level < 1.
[[nodiscard]] double two_sided_normal_quantile(double level);
/// The point t such that a number of Student's distribution lies between −t and t with probability `level`, 0 < level
/// < 1.
[[nodiscard]] double two_sided_t_quantile(double degrees, double level);
/// The point below which a number of the beta distribution (a, b) lies with `probability`; a, b > 0.
[[nodiscard]] double beta_quantile(double a, double b, double probability);
/// The point above which it lies with `probability`.
[[nodiscard]] double upper_beta_quantile(double a, double b, double probability);

}  // namespace starling
