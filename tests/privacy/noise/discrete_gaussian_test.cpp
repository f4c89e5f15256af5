/// The exact sampler: against the closed form, and its fast decisions against the slow ones.
#include "privacy/noise/discrete_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "core/random.hpp"
#include "privacy/statistics.hpp"

namespace starling::discrete_gaussian_test {

using namespace testing_support;

constexpr double sigma = 16;
constexpr std::int64_t reach = 60;  // one cell for each integer within, and one on each side for those beyond

std::vector<double> discrete_gaussian_cells(double draws) {
  std::vector<double> cells(2 * reach + 3);
  long double total = 0;
  std::vector<long double> weights(cells.size());
  for (std::int64_t k = -2000; k <= 2000; ++k) {
    const long double weight = std::exp(-static_cast<long double>(k * k) / (2.0L * sigma * sigma));
    weights[static_cast<std::size_t>(std::clamp(k, -reach - 1, reach + 1) + reach + 1)] += weight;
    total += weight;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = draws * static_cast<double>(weights[i] / total);
  return cells;
}

/// 1 − A(k) in extended precision, by a sum of midpoints.
long double rejection_probability(std::int64_t k, long double s) {
  const auto integral = [s](long double k_) {
    constexpr int pieces = 2000;
    long double total = 0;
    for (int i = 0; i < pieces; ++i) {
      const long double x = (i + 0.5L) / pieces - 0.5L;
      total += std::exp(-k_ * x / (s * s) - x * x / (2 * s * s));
    }
    return total / pieces;
  };
  return 1 - integral(0) / integral(static_cast<long double>(k));
}

std::vector<std::int64_t> draws_of(std::size_t count) {
  std::vector<std::int64_t> draws(count);
  Keystream words(NoiseKey::from_seed(11, 0));
  DiscreteGaussian(sigma).add(words, draws);
  return draws;
}

// Chi-square over 123 cells, error rate 1e-4.
TEST(DiscreteGaussian, HasTheClosedForm) {
  constexpr std::size_t count = 2'000'000;
  std::vector<double> seen(2 * reach + 3);
  for (const std::int64_t k : draws_of(count)) {
    ++seen[static_cast<std::size_t>(std::clamp(k, -reach - 1, reach + 1) + reach + 1)];
  }
  const double distance = chi_square(seen, discrete_gaussian_cells(count));
  EXPECT_LT(distance, chi_square_limit(2 * reach + 2));
}

// Variance within four standard errors (two-sided error 6e-5): σ² up to a relative 10^-1000.
TEST(DiscreteGaussian, HasTheVariance) {
  constexpr std::size_t count = 2'000'000;
  double square = 0;
  for (const std::int64_t k : draws_of(count)) square += static_cast<double>(k * k) / count;
  EXPECT_NEAR(square, sigma * sigma, 4 * sigma * sigma * std::sqrt(2.0 / count));
}

/// A planted sampler that keeps every proposal could not be told apart by draws: even at the least σ its chi-square
/// distance is 5e-8 for each draw, and some 10^9 draws would show it at this error rate. So the decision itself is
/// tested (next test), which a planted one fails.
TEST(DiscreteGaussian, RejectionCannotBeSeenInDraws) {
  const std::vector<double> discrete = discrete_gaussian_cells(1);
  std::vector<double> rounded(discrete.size());
  for (std::int64_t k = -2000; k <= 2000; ++k) {
    const double scale = 1 / (sigma * std::numbers::sqrt2);
    const auto at = static_cast<double>(std::abs(k));
    rounded[static_cast<std::size_t>(std::clamp(k, -reach - 1, reach + 1) + reach + 1)] +=
        (std::erfc((at - 0.5) * scale) - std::erfc((at + 0.5) * scale)) / 2;
  }
  EXPECT_LT(2'000'000 * chi_square(rounded, discrete), 1);
}

TEST(DiscreteGaussian, KeepsWhatItShould) {
  const DiscreteGaussian noise(sigma);
  const auto none = []() -> std::uint64_t { throw FailureError("more digits are needed"); };
  for (const std::int64_t k : {1, 2, 5, 16, 40, 100}) {
    const long double rejected = rejection_probability(k, sigma);
    ASSERT_GT(rejected, 0);
    // The words on both sides of the limit, as near as the midpoints' error (below 1e-5 of it) allows.
    const auto below = static_cast<std::uint64_t>(rejected * 0.9999L * 0x1p64L);
    const auto above = static_cast<std::uint64_t>(rejected * 1.0001L * 0x1p64L);
    for (const std::int64_t signed_k : {k, -k}) {
      EXPECT_FALSE(noise.keeps(signed_k, below, none)) << k;
      EXPECT_TRUE(noise.keeps(signed_k, above, none)) << k;
      EXPECT_FALSE(noise.keeps(signed_k, 0, none)) << k;
      EXPECT_TRUE(noise.keeps(signed_k, ~std::uint64_t{0}, none)) << k;
    }
  }
  EXPECT_TRUE(noise.keeps(0, 0, none));
}

TEST(DiscreteGaussian, RejectionStaysBelowItsBound) {
  for (const std::int64_t k : {1, 16, 100, 300}) {
    const auto bound = static_cast<long double>(k * k) / (8 * std::pow(16.0L, 4));
    EXPECT_LE(rejection_probability(k, sigma), bound);
    EXPECT_GE(rejection_probability(k, sigma), bound / 4);
  }
}

/// What the first word decides is what is proved in MPFR.
TEST(DiscreteGaussian, FastDecisionsAreTheExactOnes) {
  for (const double s : {16.0, 100.5, 0x1p20, 0x1.8p41, 0x1p56}) {
    const DiscreteGaussian noise(s);
    AddressedRandom random(1, Purpose::experiment, 0, 0);
    for (int i = 0; i < 200; ++i) {
      const auto k = static_cast<std::int64_t>(random.normal() * s * (i % 2 == 0 ? 1 : 5));
      const std::uint64_t word = i % 4 == 0 ? random.below(4) : random() >> random.below(63);
      const auto ones = [] { return ~std::uint64_t{0}; };
      EXPECT_EQ(noise.keeps(k, word, ones), noise.keeps_exactly(k, word, ones)) << s << " " << k << " " << word;
    }
  }
}

/// At the scales of real runs only the word 0 is ever looked at twice.
TEST(DiscreteGaussian, NextWordsDecideWhereTheFirstDoesNot) {
  const double s = 0x1p40;
  const DiscreteGaussian noise(s);
  const auto k = static_cast<std::int64_t>(3 * s);
  int asked = 0;
  // 1 − A = 9/(24 · 2^80) = 2^-81.4: digits 82 and 83 of V decide.
  const auto small = [&asked] { return ++asked, std::uint64_t{1} << 45; };
  const auto large = [&asked] { return ++asked, std::uint64_t{1} << 47; };
  EXPECT_FALSE(noise.keeps(k, 0, small));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(noise.keeps(k, 0, large));
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(noise.keeps(k, 2, large));
  EXPECT_EQ(asked, 2);
}

TEST(DiscreteGaussian, TheSameKeyGivesTheSameDraws) {
  EXPECT_EQ(draws_of(1000), draws_of(1000));
}

TEST(DiscreteGaussian, RefusesScalesOutOfRange) {
  EXPECT_THROW(DiscreteGaussian(15.9), UsageError);
  EXPECT_THROW(DiscreteGaussian(0x1.1p56), UsageError);
}

}  // namespace starling::discrete_gaussian_test
