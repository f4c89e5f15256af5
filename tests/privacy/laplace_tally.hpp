/// Statistics of discrete Laplace draws of scale t = 2^40, gathered chunk by chunk, so that 10^8 draws need no memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/keys/keystream.hpp"
#include "statistics.hpp"

namespace starling::testing_support {

inline constexpr double laplace_scale = 0x1p40;

/// Where draws fall. Sizes are binned by 1 − exp(−|k| / t), which is uniform on [0, 1) to within 2^-40.
class LaplaceTally {
 public:
  static constexpr std::size_t bins = 4096;
  static constexpr std::size_t most_scales = 64;

  /// Every draw is multiplied by `factor`, to see what the statistics say of draws of a wrong scale.
  explicit LaplaceTally(double factor = 1) : factor_(factor) {}

  void add(std::span<const std::int64_t> draws) {
    for (const std::int64_t draw : draws) {
      const double size = factor_ * static_cast<double>(std::abs(draw)) / laplace_scale;
      const auto bin = std::min(bins - 1, static_cast<std::size_t>(-std::expm1(-size) * bins));
      ++(draw < 0 ? negative_ : positive_)[bin];
      ++scales_[std::min(most_scales - 1, static_cast<std::size_t>(size))];
    }
    count_ += static_cast<double>(draws.size());
  }

  /// Chi-square statistic over 32 equally likely bins, 16 of each sign: 31 degrees of freedom.
  [[nodiscard]] double chi_square() const {
    constexpr std::size_t coarse = 16;
    std::vector<double> observed(2 * coarse);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      observed[bin * coarse / bins] += positive_[bin];
      observed[coarse + bin * coarse / bins] += negative_[bin];
    }
    return testing_support::chi_square(observed, std::vector<double>(observed.size(), count_ / (2 * coarse)));
  }
  /// √n · sup |F_n − F| of the sizes, over the bins' edges.
  [[nodiscard]] double size_gap() const {
    double below = 0;
    double gap = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      below += positive_[bin] + negative_[bin];
      gap = std::max(gap, std::abs(below / count_ - static_cast<double>(bin + 1) / bins));
    }
    return gap * std::sqrt(count_);
  }
  /// The same of the draws themselves.
  [[nodiscard]] double gap() const {
    double below = 0;
    double largest = 0;
    for (std::size_t bin = bins; bin-- > 0;) {
      below += negative_[bin];
      largest = std::max(largest, std::abs(below / count_ - static_cast<double>(bins - bin) / (2 * bins)));
    }
    for (std::size_t bin = 0; bin < bins; ++bin) {
      below += positive_[bin];
      largest = std::max(largest, std::abs(below / count_ - static_cast<double>(bins + bin + 1) / (2 * bins)));
    }
    return largest * std::sqrt(count_);
  }
  /// By how many standard deviations the count of sizes of at least j scales misses its mean, j = 1, 2, … while 100 are
  /// expected; the largest miss.
  [[nodiscard]] double tail_miss() const {
    double beyond = count_;
    double largest = 0;
    for (std::size_t j = 1; count_ * std::exp(-static_cast<double>(j)) >= 100; ++j) {
      beyond -= scales_[j - 1];
      const double p = std::exp(-static_cast<double>(j));
      largest = std::max(largest, std::abs(beyond - count_ * p) / std::sqrt(count_ * p * (1 - p)));
    }
    return largest;
  }
  [[nodiscard]] const std::array<double, bins>& positive() const { return positive_; }
  [[nodiscard]] const std::array<double, bins>& negative() const { return negative_; }

 private:
  double factor_;
  double count_ = 0;
  std::array<double, bins> positive_{};
  std::array<double, bins> negative_{};
  std::array<double, most_scales> scales_{};
};

/// The binary digits of the sizes: how often each is 1, and how often two are 1 together; signs are digit 48.
class DigitTally {
 public:
  static constexpr std::size_t digits = 49;
  static constexpr std::size_t sign = 48;

  /// Uses a multiple of 64 draws.
  void add(std::span<const std::int64_t> draws) {
    for (; draws.size() >= 64; draws = draws.subspan(64)) {
      std::array<std::uint64_t, digits> columns{};
      for (std::size_t i = 0; i < 64; ++i) {
        auto word = static_cast<std::uint64_t>(std::abs(draws[i])) | static_cast<std::uint64_t>(draws[i] < 0) << sign;
        for (; word != 0; word &= word - 1) {
          columns[static_cast<std::size_t>(std::countr_zero(word))] |= std::uint64_t{1} << i;
        }
      }
      for (std::size_t a = 0; a < digits; ++a) {
        for (std::size_t b = a; b < digits; ++b) {
          together_[a][b] += static_cast<std::uint64_t>(std::popcount(columns[a] & columns[b]));
        }
      }
      count_ += 64;
    }
  }
  /// 1 / (1 + exp(2^(i − 40))), and ½ for the sign.
  [[nodiscard]] static double probability(std::size_t i) {
    return i == sign ? 0.5 : 1 / (1 + std::exp(std::ldexp(1.0, static_cast<int>(i) - laplace_scale_bits)));
  }
  [[nodiscard]] double expected(std::size_t i) const { return count_ * probability(i); }
  [[nodiscard]] double observed(std::size_t i) const { return static_cast<double>(together_[i][i]); }
  /// By how many standard deviations digit i's count misses its mean.
  [[nodiscard]] double miss(std::size_t i) const {
    return std::abs(observed(i) - expected(i)) / std::sqrt(expected(i) * (1 - probability(i)));
  }
  /// The same for the products of two centred digits, i < j: 0 if they are independent. Both with exact means.
  [[nodiscard]] double pair_miss(std::size_t i, std::size_t j) const {
    const double p = probability(i);
    const double q = probability(j);
    const double product = static_cast<double>(together_[i][j]) - p * observed(j) - q * observed(i) + count_ * p * q;
    return std::abs(product) / std::sqrt(count_ * p * (1 - p) * q * (1 - q));
  }

 private:
  double count_ = 0;
  std::array<std::array<std::uint64_t, digits>, digits> together_{};
};

/// Sums of products of draws that are a given number of places apart, within chunks; of the draws, and of their sizes
/// less their mean.
class LagTally {
 public:
  /// A lane, a group and a block of the sampler's, and their neighbours.
  static constexpr std::array<std::size_t, 12> lags = {1, 2, 3, 4, 8, 15, 16, 17, 32, 255, 256, 257};

  void add(std::span<const std::int64_t> draws) {
    values_.resize(draws.size());
    for (std::size_t i = 0; i < draws.size(); ++i) values_[i] = static_cast<double>(draws[i]) / laplace_scale;
    for (std::size_t l = 0; l < lags.size(); ++l) {
      for (std::size_t i = lags[l]; i < values_.size(); ++i) {
        const double a = values_[i - lags[l]];
        const double b = values_[i];
        products_[l] += a * b;
        size_products_[l] += (std::abs(a) - 1) * (std::abs(b) - 1);
      }
      pairs_[l] += static_cast<double>(values_.size()) - static_cast<double>(std::min(lags[l], values_.size()));
    }
  }
  /// In standard deviations: a product of two draws has variance 4, one of two sizes less their mean has 1 (in scales).
  [[nodiscard]] double miss(std::size_t l) const { return std::abs(products_[l]) / (2 * std::sqrt(pairs_[l])); }
  [[nodiscard]] double size_miss(std::size_t l) const { return std::abs(size_products_[l]) / std::sqrt(pairs_[l]); }

 private:
  std::vector<double> values_;
  std::array<double, lags.size()> products_{};
  std::array<double, lags.size()> size_products_{};
  std::array<double, lags.size()> pairs_{};
};

/// Error rate 1e-4 for each of three statistics, 2e-4 for each tail.
inline void expect_closed_form(const LaplaceTally& tally) {
  EXPECT_LT(tally.chi_square(), chi_square_limit(31));
  EXPECT_LT(tally.gap(), kolmogorov_limit);
  EXPECT_LT(tally.size_gap(), kolmogorov_limit);
  EXPECT_LT(tally.tail_miss(), one_in_ten_thousand);
}

/// Three of these statistics reject draws of a wrong scale. (The gap of the signed distribution moves by half as much
/// as that of the sizes.)
inline void expect_wrong_scale(const LaplaceTally& tally) {
  EXPECT_GT(tally.chi_square(), chi_square_limit(31));
  EXPECT_GT(tally.size_gap(), kolmogorov_limit);
  EXPECT_GT(tally.tail_miss(), one_in_ten_thousand);
}

/// Error rate 2e-4 for each of 24 correlations, of the draws and of their sizes.
inline void expect_uncorrelated(const LagTally& tally) {
  for (std::size_t l = 0; l < LagTally::lags.size(); ++l) {
    EXPECT_LT(tally.miss(l), one_in_ten_thousand) << LagTally::lags[l];
    EXPECT_LT(tally.size_miss(l), one_in_ten_thousand) << LagTally::lags[l];
  }
}

}  // namespace starling::testing_support
