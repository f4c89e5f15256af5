// The Laplace noise as production draws it, against the closed form and against a sampler that shares no code with it.
#include "privacy/laplace_tally.hpp"
#include "privacy/reference_laplace.hpp"
#include "privacy/statistics.hpp"
#include "support/testing.hpp"
#include <numeric>

#include "starling/core/check.hpp"
#include "starling/privacy/keys/keystream.hpp"

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

// Error rate 1e-4 for each of three statistics, 2e-4 for each of ten tails.
TEST(LaplaceNoise, FollowsTheClosedForm) {
  const LaplaceTally tally = tally_of(sample());
  EXPECT_LT(tally.chi_square(), chi_square_limit(31));
  EXPECT_LT(tally.gap(), testing_support::kolmogorov_limit);
  EXPECT_LT(tally.size_gap(), testing_support::kolmogorov_limit);
  EXPECT_LT(tally.tail_miss(), one_in_ten_thousand);
}

// The same statistics of draws that are half a percent too wide, or too narrow.
TEST(LaplaceNoise, TestWouldSeeAScaleHalfAPercentOff) {
  for (const double factor : {1.005, 0.995}) {
    const LaplaceTally tally = tally_of(sample(), factor);
    EXPECT_GT(tally.chi_square(), chi_square_limit(31)) << factor;
    EXPECT_GT(tally.size_gap(), testing_support::kolmogorov_limit) << factor;
    EXPECT_GT(tally.tail_miss(), one_in_ten_thousand) << factor;
  }
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

// Error rate 2e-4 for each of 24 correlations, of the draws and of their sizes.
TEST(LaplaceNoise, DrawsAreUncorrelated) {
  LagTally tally;
  tally.add(sample());
  for (std::size_t l = 0; l < LagTally::lags.size(); ++l) {
    EXPECT_LT(tally.miss(l), one_in_ten_thousand) << LagTally::lags[l];
    EXPECT_LT(tally.size_miss(l), one_in_ten_thousand) << LagTally::lags[l];
  }
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

// Two samples of equal size: Σ (a − b)² / (a + b) over 64 bins has 63 degrees of freedom, and √(n/2) · sup |F_a − F_b|
// the Kolmogorov distribution. Error rate 1e-4 each.
TEST(LaplaceNoise, AgreesWithTheReferenceSampler) {
  constexpr std::size_t n = std::size_t{1} << 20;
  Keystream words(NoiseKey::from_seed(42, 0));
  std::vector<std::int64_t> reference(n);
  for (std::int64_t& value : reference) value = testing_support::reference_laplace(words);
  std::vector<std::int64_t> ours = noise(43, n);
  std::sort(reference.begin(), reference.end());
  std::sort(ours.begin(), ours.end());
  std::vector<std::int64_t> both(reference);
  both.insert(both.end(), ours.begin(), ours.end());
  std::sort(both.begin(), both.end());
  double statistic = 0;
  double gap = 0;
  double last_a = 0;
  double last_b = 0;
  for (std::size_t i = 1; i <= 4096; ++i) {
    const std::int64_t edge = both[i * both.size() / 4096 - 1];
    const auto a = static_cast<double>(std::upper_bound(reference.begin(), reference.end(), edge) - reference.begin());
    const auto b = static_cast<double>(std::upper_bound(ours.begin(), ours.end(), edge) - ours.begin());
    gap = std::max(gap, std::abs(a - b) / n);
    if (i % 64 != 0) continue;
    const double difference = (a - last_a) - (b - last_b);
    statistic += difference * difference / (a - last_a + b - last_b);
    last_a = a;
    last_b = b;
  }
  EXPECT_LT(statistic, chi_square_limit(63));
  EXPECT_LT(gap * std::sqrt(n / 2.0), testing_support::kolmogorov_limit);
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

}  // namespace starling::laplace_noise_test
