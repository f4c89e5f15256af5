/// Statistics of integers that should be round(σ Z), Z standard normal and independent, and the limits that they exceed
/// with a known probability.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "statistics.hpp"

namespace starling::testing_support {

/// Φ(x).
inline double normal_cdf(double x) {
  return std::erfc(-x * std::sqrt(0.5)) / 2;
}

/// Φ⁻¹(p), 0 < p < 1, by bisection.
inline double normal_quantile(double p) {
  double below = -40;
  double above = 40;
  for (int i = 0; i < 80; ++i) {
    const double middle = (below + above) / 2;
    (normal_cdf(middle) < p ? below : above) = middle;
  }
  return (below + above) / 2;
}

/// Counts draws chunk by chunk; every figure is against the exact distribution of round(σ Z).
class NormalStatistics {
 public:
  static constexpr std::size_t bins = 4096;  ///< of about equal probability, symmetric but for the rounding of 0
  static constexpr std::size_t coarse = 64;
  static constexpr std::size_t lags = 4;

  explicit NormalStatistics(double sigma) : sigma_(sigma), counts_(bins), pairs_(64), low_bits_(256), joint_(128) {
    for (std::size_t i = 1; i < bins; ++i) {
      const double z = normal_quantile(static_cast<double>(std::min(i, bins - i)) / bins);
      const std::int64_t edge = std::llround(sigma * z);
      edges_.push_back(i <= bins / 2 ? edge : -edge - 1);
    }
  }

  void add(std::span<const std::int64_t> draws) {
    std::vector<std::size_t> cells(draws.size());
    for (std::size_t i = 0; i < draws.size(); ++i) {
      cells[i] = static_cast<std::size_t>(std::lower_bound(edges_.begin(), edges_.end(), draws[i]) - edges_.begin());
      ++counts_[cells[i]];
      const auto bits = static_cast<std::uint64_t>(draws[i]);
      ++low_bits_[bits % 256];
      ++joint_[cells[i] / (bins / 8) * 16 + bits % 16];
      const double size = std::abs(static_cast<double>(draws[i])) / sigma_;
      for (std::size_t t = 0; t < beyond_.size(); ++t) beyond_[t] += size > static_cast<double>(t) + 1 ? 1 : 0;
    }
    for (std::size_t i = 0; i + 1 < draws.size(); i += 2) ++pairs_[cells[i] / 512 * 8 + cells[i + 1] / 512];
    for (std::size_t lag = 1; lag <= lags; ++lag) correlate(draws, lag);
    total_ += static_cast<double>(draws.size());
  }

  /// Over 64 bins of about equal probability: 63 degrees of freedom.
  [[nodiscard]] double chi_square_of_bins() const {
    std::vector<double> observed(coarse);
    std::vector<double> expected(coarse);
    for (std::size_t i = 0; i < bins; ++i) {
      observed[i / (bins / coarse)] += counts_[i];
      expected[i / (bins / coarse)] += total_ * (cdf(i) - (i == 0 ? 0 : cdf(i - 1)));
    }
    return chi_square(observed, expected);
  }
  /// √n sup |F_n − F| over the edges of all bins.
  [[nodiscard]] double kolmogorov_smirnov() const {
    double sum = 0;
    double largest = 0;
    for (std::size_t i = 0; i + 1 < bins; ++i) {
      sum += counts_[i];
      largest = std::max(largest, std::abs(sum / total_ - cdf(i)));
    }
    return largest * std::sqrt(total_);
  }
  /// The same for |k|, which sees a wrong scale twice as well.
  [[nodiscard]] double kolmogorov_smirnov_of_sizes() const {
    double sum = 0;
    double largest = 0;
    for (std::size_t i = 0; i < bins / 2; ++i) {
      sum += counts_[i] + counts_[bins - 1 - i];
      largest = std::max(largest, std::abs(sum / total_ - cdf(i) - (1 - cdf(bins - 2 - i))));
    }
    return largest * std::sqrt(total_);
  }
  /// Draws beyond `sigmas` = 1 … 6, in standard deviations from what is expected.
  [[nodiscard]] double tail(int sigmas) const {
    const double p = 2 * normal_cdf(-sigmas);
    const double observed = beyond_[static_cast<std::size_t>(sigmas - 1)];
    return (observed - total_ * p) / std::sqrt(total_ * p * (1 - p));
  }
  [[nodiscard]] double expected_beyond(int sigmas) const { return total_ * 2 * normal_cdf(-sigmas); }
  [[nodiscard]] double observed_beyond(int sigmas) const { return beyond_[static_cast<std::size_t>(sigmas - 1)]; }
  /// Σ z_i z_{i+lag}, in standard deviations.
  [[nodiscard]] double correlation(std::size_t lag) const { return products_[lag] / std::sqrt(pair_count_[lag]); }
  /// Σ (z_i² − 1)(z_{i+lag}² − 1), in standard deviations.
  [[nodiscard]] double correlation_of_squares(std::size_t lag) const {
    return squares_[lag] / std::sqrt(4 * pair_count_[lag]);
  }
  /// Σ z_i² − n, in standard deviations.
  [[nodiscard]] double variance() const { return (sum_of_squares_ - total_) / std::sqrt(2 * total_); }
  /// Octiles of consecutive draws, 64 cells whose probabilities are given: 63 degrees of freedom.
  [[nodiscard]] double chi_square_of_pairs() const {
    const double pairs = std::accumulate(pairs_.begin(), pairs_.end(), 0.0);
    std::vector<double> expected;
    for (std::size_t i = 0; i < 64; ++i) expected.push_back(pairs * octile(i / 8) * octile(i % 8));
    return chi_square(pairs_, expected);
  }
  /// The eight low bits: 255 degrees of freedom.
  [[nodiscard]] double chi_square_of_low_bits() const {
    return chi_square(low_bits_, std::vector<double>(256, total_ / 256));
  }
  /// Octiles against the four low bits: 127 degrees of freedom.
  [[nodiscard]] double chi_square_of_octiles_and_low_bits() const {
    std::vector<double> expected;
    for (std::size_t i = 0; i < 128; ++i) expected.push_back(total_ * octile(i / 16) / 16);
    return chi_square(joint_, expected);
  }

 private:
  /// P(k ≤ edge i).
  [[nodiscard]] double cdf(std::size_t i) const {
    return i + 1 == bins ? 1 : normal_cdf((static_cast<double>(edges_[i]) + 0.5) / sigma_);
  }
  [[nodiscard]] double octile(std::size_t i) const { return cdf(512 * i + 511) - (i == 0 ? 0 : cdf(512 * i - 1)); }
  void correlate(std::span<const std::int64_t> draws, std::size_t lag) {
    double product = 0;
    double square = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) {
      const double z = static_cast<double>(draws[i]) / sigma_;
      if (lag == 1) sum_of_squares_ += z * z;
      if (i + lag >= draws.size()) continue;
      const double next = static_cast<double>(draws[i + lag]) / sigma_;
      product += z * next;
      square += (z * z - 1) * (next * next - 1);
    }
    products_[lag] += product;
    squares_[lag] += square;
    pair_count_[lag] += static_cast<double>(draws.size() - lag);
  }

  double sigma_;
  double total_ = 0;
  double sum_of_squares_ = 0;
  std::vector<std::int64_t> edges_;  ///< largest integers of all bins but the last
  std::vector<double> counts_;
  std::vector<double> pairs_;
  std::vector<double> low_bits_;
  std::vector<double> joint_;
  std::array<double, 6> beyond_{};
  std::array<double, lags + 1> products_{};
  std::array<double, lags + 1> squares_{};
  std::array<double, lags + 1> pair_count_{};
};

/// Error rates: 1e-4 for each chi-square and each of Kolmogorov and Smirnov's; 2e-4 for each correlation, for the
/// variance and for each of the tails beyond 1 σ to `tails` σ.
inline void expect_normal(const NormalStatistics& statistics, int tails) {
  EXPECT_LT(statistics.chi_square_of_bins(), chi_square_limit(63));
  EXPECT_LT(statistics.kolmogorov_smirnov(), kolmogorov_limit);
  EXPECT_LT(statistics.kolmogorov_smirnov_of_sizes(), kolmogorov_limit);
  EXPECT_LT(std::abs(statistics.variance()), one_in_ten_thousand);
  for (int sigmas = 1; sigmas <= tails; ++sigmas) {
    EXPECT_LT(std::abs(statistics.tail(sigmas)), one_in_ten_thousand) << sigmas;
  }
  for (std::size_t lag = 1; lag <= NormalStatistics::lags; ++lag) {
    EXPECT_LT(std::abs(statistics.correlation(lag)), one_in_ten_thousand) << lag;
    EXPECT_LT(std::abs(statistics.correlation_of_squares(lag)), one_in_ten_thousand) << lag;
  }
  EXPECT_LT(statistics.chi_square_of_pairs(), chi_square_limit(63));
  EXPECT_LT(statistics.chi_square_of_low_bits(), chi_square_limit(255));
  EXPECT_LT(statistics.chi_square_of_octiles_and_low_bits(), chi_square_limit(127));
}

}  // namespace starling::testing_support
