// 10^6 draws of the Gaussian sampler; privacy/gaussian_noise_long has 10^8.
#include "privacy/normal_statistics.hpp"
#include "support/testing.hpp"

#include "starling/privacy/noise/gaussian_noise.hpp"

namespace starling::gaussian_statistics_test {

using namespace testing_support;

constexpr double production_sigma = 0x1p41;  // mu = 1

const NormalStatistics& statistics() {
  static const NormalStatistics result = [] {
    NormalStatistics statistics(production_sigma);
    Keystream words(NoiseKey::from_seed(43, 0));
    std::vector<std::int64_t> integers(1000000);
    add_gaussian(words, production_sigma, integers);
    statistics.add(integers);
    return statistics;
  }();
  return result;
}

// Error rate 1e-4 each.
TEST(GaussianNoise, FollowsTheNormalDistribution) {
  EXPECT_LT(statistics().chi_square_of_bins(), chi_square_limit(63));
  EXPECT_LT(statistics().kolmogorov_smirnov(), kolmogorov_limit);
  EXPECT_LT(statistics().kolmogorov_smirnov_of_sizes(), kolmogorov_limit);
}

// Error rate 2e-4 each (the counts beyond 4 σ, 63 expected, are near enough to normal).
TEST(GaussianNoise, HasItsVarianceAndTails) {
  EXPECT_LT(std::abs(statistics().variance()), one_in_ten_thousand);
  for (int sigmas = 1; sigmas <= 4; ++sigmas) EXPECT_LT(std::abs(statistics().tail(sigmas)), one_in_ten_thousand);
}

// Error rate 2e-4 for each correlation, 1e-4 for each chi-square.
TEST(GaussianNoise, DrawsAreIndependent) {
  for (std::size_t lag = 1; lag <= NormalStatistics::lags; ++lag) {
    EXPECT_LT(std::abs(statistics().correlation(lag)), one_in_ten_thousand) << lag;
    EXPECT_LT(std::abs(statistics().correlation_of_squares(lag)), one_in_ten_thousand) << lag;
  }
  EXPECT_LT(statistics().chi_square_of_pairs(), chi_square_limit(63));
}

// Error rate 1e-4 each: what the bins above do not see.
TEST(GaussianNoise, HasUniformLowBits) {
  EXPECT_LT(statistics().chi_square_of_low_bits(), chi_square_limit(255));
  EXPECT_LT(statistics().chi_square_of_octiles_and_low_bits(), chi_square_limit(127));
}

// At the smallest scale every integer can be counted. Error rate 1e-4.
TEST(GaussianNoise, GivesEveryIntegerItsProbabilityAtTheSmallestScale) {
  constexpr double sigma = GaussianNoise::smallest_sigma;
  constexpr std::int64_t reach = 60;
  std::vector<std::int64_t> integers(1000000);
  Keystream words(NoiseKey::from_seed(44, 0));
  add_gaussian(words, sigma, integers);
  std::vector<double> observed(2 * reach + 1);
  std::vector<double> expected(observed.size());
  for (const std::int64_t k : integers) ++observed[static_cast<std::size_t>(std::clamp(k, -reach, reach) + reach)];
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const double above = k == reach ? 1 : normal_cdf((static_cast<double>(k) + 0.5) / sigma);
    const double beneath = k == -reach ? 0 : normal_cdf((static_cast<double>(k) - 0.5) / sigma);
    expected[static_cast<std::size_t>(k + reach)] = 1e6 * (above - beneath);
  }
  EXPECT_LT(chi_square(observed, expected), chi_square_limit(2 * reach));
}

}  // namespace starling::gaussian_statistics_test
