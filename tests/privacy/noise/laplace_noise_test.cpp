// The Laplace noise as production draws it, against the closed form; and that of the published mechanisms.
#include <numeric>

#include "privacy/keys/keystream.hpp"
#include "privacy/laplace_tally.hpp"
#include "privacy/statistics.hpp"
#include "support/testing.hpp"

namespace starling::laplace_noise_test {

using namespace testing_support;

constexpr std::size_t draws = std::size_t{1} << 22;

std::vector<std::int64_t> noise(std::uint64_t seed, std::size_t count) {
  Keystream words(NoiseKey::from_seed(seed, 0));
  std::vector<std::int64_t> result(count);
  add_discrete_laplace(words, result);
  return result;
}

const std::vector<std::int64_t>& sample() {
  static const std::vector<std::int64_t> values = noise(40, draws);
  return values;
}

LaplaceTally tally_of(const std::vector<std::int64_t>& values, double factor = 1) {
  LaplaceTally tally(factor);
  tally.add(values);
  return tally;
}

TEST(LaplaceNoise, FollowsTheClosedForm) {
  expect_closed_form(tally_of(sample()));
}

TEST(LaplaceNoise, TestWouldSeeAScaleHalfAPercentOff) {
  for (const double factor : {1.005, 0.995}) expect_wrong_scale(tally_of(sample(), factor));
}

// P(digit i = 1) = 1 / (1 + exp(2^(i − 40))), and the sign is even. Error rate 2e-4 for each of 45; digits 44 and up
// are 1 in less than half a draw together, and in more than six with probability 1e-6.
TEST(LaplaceNoise, DigitsHaveTheirProbabilities) {
  DigitTally tally;
  tally.add(sample());
  for (std::size_t i = 0; i <= 43; ++i) EXPECT_LT(tally.miss(i), one_in_ten_thousand) << i;
  EXPECT_LT(tally.miss(DigitTally::sign), one_in_ten_thousand);
  double beyond = 0;
  for (std::size_t i = 44; i < DigitTally::sign; ++i) beyond += tally.observed(i);
  EXPECT_LE(beyond, 6);
}

// 990 pairs of digits (43 and the sign among them), error rate 1e-6 each: the quantile 4.9.
TEST(LaplaceNoise, DigitsAreIndependent) {
  DigitTally tally;
  tally.add(sample());
  for (std::size_t i = 0; i < DigitTally::digits; ++i) {
    for (std::size_t j = i + 1; j < DigitTally::digits; ++j) {
      if (j < 43 || (j == DigitTally::sign && i < 43)) {
        EXPECT_LT(tally.pair_miss(i, j), 4.9) << i << " " << j;
      }
    }
  }
}

// The low digits, which no bin sees, are uniform to within 2^-30: 256 values of the lowest eight, and of eight above
// them. Error rate 1e-4 each.
TEST(LaplaceNoise, HasUniformLowDigits) {
  for (const int shift : {0, 8}) {
    std::vector<double> observed(256);
    for (const std::int64_t value : sample()) ++observed[static_cast<std::size_t>(std::abs(value) >> shift) % 256];
    EXPECT_LT(chi_square(observed, std::vector<double>(256, draws / 256.0)), chi_square_limit(255)) << shift;
  }
}

TEST(LaplaceNoise, DrawsAreUncorrelated) {
  LagTally tally;
  tally.add(sample());
  expect_uncorrelated(tally);
}

// 16 cells of sign and quarter for two draws in a row, two that share a place in neighbouring groups, and two of
// neighbouring blocks. Error rate 1e-4 each.
TEST(LaplaceNoise, DrawsAreIndependent) {
  const auto median = std::llround(0x1p40 * std::log(2.0));
  const auto cell = [&](std::int64_t value) { return (value < 0 ? 1U : 0U) + (std::abs(value) > median ? 2U : 0U); };
  for (const std::size_t lag : {1U, 16U, 256U}) {
    std::vector<double> observed(16);
    for (std::size_t i = 0; i < draws; ++i) {
      if (i / lag % 2 == 0) ++observed[4 * cell(sample()[i]) + cell(sample()[i + lag])];
    }
    EXPECT_LT(chi_square(observed, std::vector<double>(16, draws / 32.0)), chi_square_limit(15)) << lag;
  }
}

// Each of the 16 places has the same distribution: mean size 1, with variance 1, in scales. Error rate 2e-4 each.
TEST(LaplaceNoise, IsTheSameInEveryPlace) {
  for (std::size_t place = 0; place < 16; ++place) {
    double total = 0;
    for (std::size_t i = place; i < draws; i += 16) total += static_cast<double>(std::abs(sample()[i])) / 0x1p40;
    EXPECT_NEAR(total / (draws / 16.0), 1, one_in_ten_thousand / std::sqrt(draws / 16.0)) << place;
  }
}

// Arrays of every length up to two groups: one draw alone is distributed as one of many. Error rate 1e-4 each.
TEST(LaplaceNoise, IsTheSameForEveryLength) {
  for (const std::size_t length : {1U, 2U, 15U, 17U, 31U}) {
    Keystream words(NoiseKey::from_seed(41, static_cast<Client>(length)));
    LaplaceTally tally;
    std::vector<std::int64_t> values(length);
    for (std::size_t i = 0; i < 400000 / length; ++i) {
      std::fill(values.begin(), values.end(), 0);
      add_discrete_laplace(words, values);
      tally.add(std::span<const std::int64_t>(values).last(1));
    }
    EXPECT_LT(tally.chi_square(), chi_square_limit(31)) << length;
  }
}

TEST(LaplaceNoise, IsAFunctionOfKeyAndLength) {
  for (const std::size_t length : {0U, 1U, 16U, 255U, 256U, 257U, 5000U}) {
    EXPECT_EQ(noise(44, length), noise(44, length)) << length;
    if (length > 0) {
      EXPECT_NE(noise(44, length), noise(45, length)) << length;
    }
  }
}

// A round replayed on another machine, or by a later version, must give the same bytes.
TEST(LaplaceNoise, IsTheSameOnEveryMachine) {
  Keystream words(NoiseKey::from_seed(7, 7));
  std::uint64_t hash = 0;
  for (const std::size_t length : {1U, 5U, 300U, 100000U}) {
    std::vector<std::int64_t> values(length);
    add_discrete_laplace(words, values);
    for (const std::int64_t value : values) hash = hash * 6364136223846793005U + static_cast<std::uint64_t>(value);
  }
  EXPECT_EQ(hash, 0x277f42fdecdf3538U);
}

TEST(LaplaceNoise, IsAdded) {
  Keystream words(NoiseKey::from_seed(44, 0));
  std::vector<std::int64_t> integers(1000);
  std::iota(integers.begin(), integers.end(), -500);
  add_discrete_laplace(words, integers);
  const std::vector<std::int64_t> alone = noise(44, 1000);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(integers[i] - alone[i], static_cast<std::int64_t>(i) - 500);
}

// Kolmogorov–Smirnov against the continuous distribution; the limit has error rate 1e-4.
TEST(FloatingLaplace, FollowsTheContinuousDistribution) {
  Keystream words(NoiseKey::from_seed(22, 0));
  std::vector<double> values(draws / 16);
  for (double& value : values) value = floating_laplace(words, 10);
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double gap = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double tail = std::exp(-std::abs(values[i]) / 10) / 2;
    const double cdf = values[i] < 0 ? tail : 1 - tail;
    gap = std::max({gap, std::abs(cdf - static_cast<double>(i) / n), std::abs(cdf - static_cast<double>(i + 1) / n)});
  }
  EXPECT_LT(gap * std::sqrt(n), testing_support::kolmogorov_limit);
}

}  // namespace starling::laplace_noise_test
