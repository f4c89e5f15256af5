// The statistics of 10^8 draws, and proof that they would see a scale that is wrong by a thousandth.
#include "privacy/gaussian_judge.hpp"
#include "privacy/normal_statistics.hpp"
#include "support/testing.hpp"

#include "starling/privacy/noise/gaussian_noise.hpp"

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

const NormalStatistics& right() {
  static const NormalStatistics result = count(50, 1);
  return result;
}

// Error rate 1e-4 each.
TEST(GaussianNoiseLong, FollowsTheNormalDistribution) {
  EXPECT_LT(right().chi_square_of_bins(), chi_square_limit(63));
  EXPECT_LT(right().kolmogorov_smirnov(), kolmogorov_limit);
  EXPECT_LT(right().kolmogorov_smirnov_of_sizes(), kolmogorov_limit);
}

TEST(GaussianNoiseLong, EveryDrawIsCorrectlyRounded) {
  testing_support::expect_correct_rounding(200'000);
}

// Error rate 2e-4 each. Beyond 5 σ 57.3 draws are expected, beyond 6 σ 0.2: more than 4 have probability 3e-6.
TEST(GaussianNoiseLong, HasItsVarianceAndTails) {
  EXPECT_LT(std::abs(right().variance()), one_in_ten_thousand);
  for (int sigmas = 1; sigmas <= 5; ++sigmas) {
    EXPECT_LT(std::abs(right().tail(sigmas)), one_in_ten_thousand) << sigmas;
  }
  EXPECT_LE(right().observed_beyond(6), 4);
}

// Error rate 2e-4 for each correlation, 1e-4 for each chi-square.
TEST(GaussianNoiseLong, DrawsAreIndependent) {
  for (std::size_t lag = 1; lag <= NormalStatistics::lags; ++lag) {
    EXPECT_LT(std::abs(right().correlation(lag)), one_in_ten_thousand) << lag;
    EXPECT_LT(std::abs(right().correlation_of_squares(lag)), one_in_ten_thousand) << lag;
  }
  EXPECT_LT(right().chi_square_of_pairs(), chi_square_limit(63));
}

// Error rate 1e-4 each.
TEST(GaussianNoiseLong, HasUniformLowBits) {
  EXPECT_LT(right().chi_square_of_low_bits(), chi_square_limit(255));
  EXPECT_LT(right().chi_square_of_octiles_and_low_bits(), chi_square_limit(127));
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
