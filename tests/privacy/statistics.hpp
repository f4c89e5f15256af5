/// What the statistical tests of this room share. Their seeds are fixed, so that a test passes always or never; the
/// error rate says how unlikely a failure was before the seed was chosen.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "privacy/keys/keystream.hpp"

namespace starling::testing_support {

/// Quantile of the standard normal distribution for an error rate of 1e-4 on one side.
inline constexpr double one_in_ten_thousand = 3.719;

/// √n sup |F_n − F| exceeds this with probability 1e-4 (Kolmogorov's distribution, 2 exp(−2 x²)).
inline constexpr double kolmogorov_limit = 2.2253;

/// The value that a chi-square variable exceeds with probability 1e-4 (Wilson and Hilferty 1931).
inline double chi_square_limit(double degrees) {
  const double spread = 2 / (9 * degrees);
  const double root = 1 - spread + one_in_ten_thousand * std::sqrt(spread);
  return degrees * root * root * root;
}

/// Σ (observed − expected)² / expected.
inline double chi_square(const std::vector<double>& observed, const std::vector<double>& expected) {
  double total = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double gap = observed[i] - expected[i];
    total += gap * gap / expected[i];
  }
  return total;
}

inline double mean(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

inline double mean_square(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value * value;
  return total / static_cast<double>(values.size());
}

/// Correlation of values[i] with values[i + lag].
inline double autocorrelation(const std::vector<double>& values, std::size_t lag) {
  const double centre = mean(values);
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    square += (values[i] - centre) * (values[i] - centre);
    if (i + lag < values.size()) product += (values[i] - centre) * (values[i + lag] - centre);
  }
  return product / square;
}

}  // namespace starling::testing_support
