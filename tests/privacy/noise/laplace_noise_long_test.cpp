// 10^8 draws of the Laplace noise: the statistics of laplace_noise_test.cpp, which now see 0.1 % of the scale.
#include "privacy/keys/keystream.hpp"
#include "privacy/laplace_tally.hpp"
#include "privacy/statistics.hpp"
#include "support/testing.hpp"

namespace starling::laplace_noise_long_test {

using namespace testing_support;

struct Tallies {
  LaplaceTally plain;
  LaplaceTally wider{1.001};
  LaplaceTally narrower{0.999};
  DigitTally digits;
  LagTally lags;
};

const Tallies& tallies() {
  static const Tallies all = [] {
    constexpr std::size_t chunk = 100000 / 64 * 64;
    constexpr std::size_t draws = 100000000;
    Tallies result;
    Keystream words(NoiseKey::from_seed(50, 0));
    std::vector<std::int64_t> values(chunk);
    for (std::size_t done = 0; done < draws; done += chunk) {
      std::fill(values.begin(), values.end(), 0);
      add_discrete_laplace(words, values);
      for (LaplaceTally* tally : {&result.plain, &result.wider, &result.narrower}) tally->add(values);
      result.digits.add(values);
      result.lags.add(values);
    }
    return result;
  }();
  return all;
}

TEST(LaplaceNoiseLong, FollowsTheClosedForm) {
  expect_closed_form(tallies().plain);
}

TEST(LaplaceNoiseLong, WouldSeeAScaleATenthOfAPercentOff) {
  for (const LaplaceTally* wrong : {&tallies().wider, &tallies().narrower}) expect_wrong_scale(*wrong);
}

// Error rate 2e-4 for each of 45 digits; 1e-6 for each of 990 pairs.
TEST(LaplaceNoiseLong, DigitsHaveTheirProbabilitiesAndAreIndependent) {
  const DigitTally& digits = tallies().digits;
  for (std::size_t i = 0; i < DigitTally::digits; ++i) {
    if (i > 43 && i != DigitTally::sign) continue;
    EXPECT_LT(digits.miss(i), one_in_ten_thousand) << i;
    for (std::size_t j = i + 1; j < DigitTally::digits; ++j) {
      if (j <= 43 || j == DigitTally::sign) {
        EXPECT_LT(digits.pair_miss(i, j), 4.9) << i << " " << j;
      }
    }
  }
}

TEST(LaplaceNoiseLong, DrawsAreUncorrelated) {
  expect_uncorrelated(tallies().lags);
}

}  // namespace starling::laplace_noise_long_test
