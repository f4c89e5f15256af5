#include "privacy/reference_laplace.hpp"
#include "privacy/statistics.hpp"
#include "support/testing.hpp"
#include <algorithm>
#include <array>

#include "starling/core/check.hpp"
#include "starling/privacy/keys/keystream.hpp"

namespace starling::samplers_test {

using namespace testing_support;

constexpr std::size_t draws = 1000000;
constexpr double scale = 0x1p40;

const std::vector<std::int64_t>& reference_draws() {
  static const std::vector<std::int64_t> values = [] {
    Keystream words(NoiseKey::from_seed(20, 1));
    std::vector<std::int64_t> result(draws);
    for (std::int64_t& value : result) value = reference_laplace(words);
    return result;
  }();
  return values;
}

/// Largest integers of `bins` − 1 bins of about equal probability.
std::vector<std::int64_t> bin_edges(int bins) {
  std::vector<std::int64_t> edges;
  for (int i = 1; i < bins; ++i) {
    const double p = static_cast<double>(i) / bins;
    edges.push_back(std::llround(p < 0.5 ? scale * std::log(2 * p) : -scale * std::log(2 * (1 - p))));
  }
  return edges;
}

/// Statistic of the draws against the exact distribution of scale 2^40, over 24 bins.
double statistic(const std::vector<std::int64_t>& values) {
  constexpr int bins = 24;
  const std::vector<std::int64_t> edges = bin_edges(bins);
  std::vector<double> observed(bins);
  std::vector<double> expected(bins);
  for (const std::int64_t value : values) {
    ++observed[static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin())];
  }
  for (std::size_t i = 0; i < bins; ++i) {
    const double above = i + 1 == bins ? 1 : discrete_laplace_cdf(edges[i], scale);
    const double beneath = i == 0 ? 0 : discrete_laplace_cdf(edges[i - 1], scale);
    expected[i] = (above - beneath) * static_cast<double>(values.size());
  }
  return chi_square(observed, expected);
}

std::vector<double> as_scales(const std::vector<std::int64_t>& values) {
  std::vector<double> result;
  for (const std::int64_t value : values) result.push_back(static_cast<double>(value) / scale);
  return result;
}

// Error rate 1e-4.
TEST(ReferenceLaplace, FollowsTheClosedForm) {
  EXPECT_LT(statistic(reference_draws()), chi_square_limit(23));
}

// The same test on draws that are 1 % too wide, or too narrow, must fail: it would see a wrong scale.
TEST(ReferenceLaplace, TestWouldSeeAScaleOnePercentOff) {
  for (const double factor : {1.01, 0.99}) {
    std::vector<std::int64_t> wrong = reference_draws();
    for (std::int64_t& value : wrong) value = std::llround(factor * static_cast<double>(value));
    EXPECT_GT(statistic(wrong), chi_square_limit(23)) << factor;
  }
}

// Error rate 1e-4: the low bits, which the bins above do not see, are uniform to within 1e-22.
TEST(ReferenceLaplace, HasUniformLowBits) {
  std::vector<double> observed(64);
  for (const std::int64_t value : reference_draws()) ++observed[static_cast<std::uint64_t>(value) % 64];
  EXPECT_LT(chi_square(observed, std::vector<double>(64, draws / 64.0)), chi_square_limit(63));
}

// Error rate 2e-4.
TEST(ReferenceLaplace, IsSymmetric) {
  const auto negative = static_cast<double>(
      std::count_if(reference_draws().begin(), reference_draws().end(), [](std::int64_t value) { return value < 0; }));
  const double n = draws;
  EXPECT_LT(std::abs(negative - n / 2), testing_support::one_in_ten_thousand * std::sqrt(n) / 2);
  EXPECT_LT(std::abs(mean(as_scales(reference_draws()))), testing_support::one_in_ten_thousand * std::sqrt(2 / n));
}

// Variance 2 and fourth moment 24, in scales: the mean square has variance (24 − 4)/n. Error rate 2e-4.
TEST(ReferenceLaplace, HasVarianceTwoScalesSquared) {
  std::vector<double> squares = as_scales(reference_draws());
  for (double& value : squares) value *= value;
  EXPECT_NEAR(mean(squares), 2, testing_support::one_in_ten_thousand * std::sqrt(20.0 / draws));
}

// Error rate 2e-4 for each of eight correlations: of the draws, and of their sizes.
TEST(ReferenceLaplace, DrawsAreUncorrelated) {
  std::vector<double> values = as_scales(reference_draws());
  std::vector<double> sizes = values;
  for (double& value : sizes) value = std::abs(value);
  const double limit = testing_support::one_in_ten_thousand / std::sqrt(static_cast<double>(draws));
  for (std::size_t lag = 1; lag <= 4; ++lag) {
    EXPECT_LT(std::abs(autocorrelation(values, lag)), limit) << lag;
    EXPECT_LT(std::abs(autocorrelation(sizes, lag)), limit) << lag;
  }
}

// Signs and halves of consecutive draws: 16 equally likely cells. Error rate 1e-4.
TEST(ReferenceLaplace, ConsecutiveDrawsAreIndependent) {
  const auto median = std::llround(scale * std::log(2.0));
  const auto cell = [&](std::int64_t value) { return (value < 0 ? 1U : 0U) + (std::abs(value) > median ? 2U : 0U); };
  const std::vector<std::int64_t>& values = reference_draws();
  std::vector<double> observed(16);
  for (std::size_t i = 0; i + 1 < draws; i += 2) ++observed[4 * cell(values[i]) + cell(values[i + 1])];
  EXPECT_LT(chi_square(observed, std::vector<double>(16, draws / 32.0)), chi_square_limit(15));
}

// At small scales every integer can be counted, zero and its sign included. Error rate 1e-4 for each scale.
TEST(ReferenceLaplace, GivesEveryIntegerItsProbabilityAtSmallScales) {
  for (const int bits : {0, 1, 2, 4}) {
    Keystream words(NoiseKey::from_seed(21, bits));
    const double small = std::ldexp(1.0, bits);
    const auto reach = static_cast<std::int64_t>(5 * small);
    std::vector<double> observed(static_cast<std::size_t>(2 * reach + 1));
    std::vector<double> expected(observed.size());
    for (std::size_t i = 0; i < draws / 4; ++i) {
      const std::int64_t value = std::clamp(reference_laplace(words, bits), -reach, reach);
      ++observed[static_cast<std::size_t>(value + reach)];
    }
    for (std::int64_t k = -reach; k <= reach; ++k) {
      const double above = k == reach ? 1 : discrete_laplace_cdf(k, small);
      const double beneath = k == -reach ? 0 : discrete_laplace_cdf(k - 1, small);
      expected[static_cast<std::size_t>(k + reach)] = (above - beneath) * draws / 4;
    }
    EXPECT_LT(chi_square(observed, expected), chi_square_limit(static_cast<double>(observed.size() - 1))) << bits;
  }
}

TEST(ReferenceLaplace, RefusesScalesThatWouldNotFit) {
  Keystream words(NoiseKey::from_seed(1, 0));
  EXPECT_THROW(static_cast<void>(reference_laplace(words, 41)), UsageError);
  EXPECT_THROW(static_cast<void>(reference_laplace(words, -1)), UsageError);
}

// Kolmogorov–Smirnov against the continuous distribution; the limit has error rate 1e-4.
TEST(FloatingLaplace, FollowsTheContinuousDistribution) {
  Keystream words(NoiseKey::from_seed(22, 0));
  std::vector<double> values(draws / 4);
  for (double& value : values) value = floating_laplace(words, 10);
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double gap = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double tail = std::exp(-std::abs(values[i]) / 10) / 2;
    const double cdf = values[i] < 0 ? tail : 1 - tail;
    gap = std::max({gap, std::abs(cdf - static_cast<double>(i) / n), std::abs(cdf - static_cast<double>(i + 1) / n)});
  }
  EXPECT_LT(gap * std::sqrt(n), 2.226);  // √(ln(2/1e-4)/2)
}

}  // namespace starling::samplers_test
