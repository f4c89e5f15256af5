// 10^6 draws of the Gaussian sampler; privacy/gaussian_noise_long has 10^8.
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/normal_statistics.hpp"
#include "support/testing.hpp"

namespace starling::gaussian_statistics_test {

using namespace testing_support;

constexpr double production_sigma = 0x1p41;  // mu = 1

// The counts beyond 4 σ, 63 expected, are near enough to normal.
TEST(GaussianNoise, FollowsTheNormalDistribution) {
  NormalStatistics statistics(production_sigma);
  Keystream words(NoiseKey::from_seed(43, 0));
  std::vector<std::int64_t> integers(1000000);
  GaussianNoise(production_sigma).add(words, integers);
  statistics.add(integers);
  expect_normal(statistics, 4);
}

// At the smallest scale every integer can be counted. Error rate 1e-4.
TEST(GaussianNoise, GivesEveryIntegerItsProbabilityAtTheSmallestScale) {
  constexpr double sigma = GaussianNoise::smallest_sigma;
  constexpr std::int64_t reach = 60;
  std::vector<std::int64_t> integers(1000000);
  Keystream words(NoiseKey::from_seed(44, 0));
  GaussianNoise(sigma).add(words, integers);
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
