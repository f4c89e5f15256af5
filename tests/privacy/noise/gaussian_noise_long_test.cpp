// The statistics of 10^8 draws, and proof that they would see a scale that is wrong by a thousandth.
#include "privacy/gaussian_judge.hpp"
#include "privacy/noise/gaussian_noise.hpp"
#include "privacy/normal_statistics.hpp"
#include "support/testing.hpp"

namespace starling::gaussian_noise_long_test {

using namespace testing_support;

constexpr double sigma = 0x1p41;  // mu = 1

/// 10^8 draws of scale `factor` σ, taken for draws of scale σ.
NormalStatistics count(std::uint64_t seed, double factor) {
  constexpr std::size_t chunk = 1000000;
  NormalStatistics statistics(sigma);
  Keystream words(NoiseKey::from_seed(seed, 0));
  const GaussianNoise noise(factor * sigma);
  std::vector<std::int64_t> integers(chunk);
  for (int i = 0; i < 100; ++i) {
    std::fill(integers.begin(), integers.end(), 0);
    noise.add(words, integers);
    statistics.add(integers);
  }
  return statistics;
}

// Beyond 5 σ 57.3 draws are expected, beyond 6 σ 0.2: more than 4 have probability 3e-6.
TEST(GaussianNoiseLong, FollowsTheNormalDistribution) {
  const NormalStatistics right = count(50, 1);
  expect_normal(right, 5);
  EXPECT_LE(right.observed_beyond(6), 4);
}

TEST(GaussianNoiseLong, EveryDrawIsCorrectlyRounded) {
  expect_correct_rounding(200'000);
}

// Each of these statistics alone rejects draws that are a thousandth too wide or too narrow.
TEST(GaussianNoiseLong, SeesAScaleThatIsWrongByAThousandth) {
  for (const double factor : {1.001, 0.999}) {
    const NormalStatistics wrong = count(51, factor);
    EXPECT_GT(wrong.chi_square_of_bins(), chi_square_limit(63)) << factor;
    EXPECT_GT(wrong.kolmogorov_smirnov_of_sizes(), kolmogorov_limit) << factor;
    EXPECT_GT(std::abs(wrong.variance()), one_in_ten_thousand) << factor;
    EXPECT_GT(std::abs(wrong.tail(2)), one_in_ten_thousand) << factor;
    EXPECT_GT(wrong.chi_square_of_pairs(), chi_square_limit(63)) << factor;
  }
}

}  // namespace starling::gaussian_noise_long_test
