/// What tests of random graphs and of attendance need of statistics. Seeds are fixed; error rates are stated there.
#pragma once

#include <cmath>
#include <vector>

namespace starling::testing_support {

/// Standard normal quantile of one minus 1e-6.
inline constexpr double one_in_a_million = 4.7534;

/// Pearson's statistic of counts that should all be equal.
inline double chi_square(const std::vector<int>& counts) {
  double total = 0;
  for (const int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

/// What chi-square with these degrees of freedom exceeds with probability 1e-6 (Wilson and Hilferty 1931).
inline double chi_square_limit(std::size_t degrees) {
  const auto k = static_cast<double>(degrees);
  return k * std::pow(1 - 2 / (9 * k) + one_in_a_million * std::sqrt(2 / (9 * k)), 3);
}

}  // namespace starling::testing_support
