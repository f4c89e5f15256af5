#include "core/random.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "privacy/statistics.hpp"
#include "support/testing.hpp"

namespace starling::random_test {

using namespace testing_support;

constexpr std::size_t draws = 400000;

/// Philox 4×64 with ten rounds, as the paper writes it (Salmon et al. 2011, section 3.3).
std::array<std::uint64_t, 4> philox(std::array<std::uint64_t, 4> x, std::array<std::uint64_t, 2> key) {
  __extension__ using Wide = unsigned __int128;
  for (int round = 0; round < 10; ++round) {
    const Wide a = static_cast<Wide>(0xD2E7470EE14C6C93) * x[0];
    const Wide b = static_cast<Wide>(0xCA5A826395121157) * x[2];
    x = {static_cast<std::uint64_t>(b >> 64) ^ x[1] ^ key[0], static_cast<std::uint64_t>(b),
         static_cast<std::uint64_t>(a >> 64) ^ x[3] ^ key[1], static_cast<std::uint64_t>(a)};
    key[0] += 0x9E3779B97F4A7C15;
    key[1] += 0xBB67AE8584CAA73B;
  }
  return x;
}

// Random123's known answer for zeros.
TEST(AddressedRandom, IsPhilox) {
  AddressedRandom random(0, Purpose{0}, 0, 0);
  EXPECT_EQ(random(), 0x16554d9eca36314cU);
  EXPECT_EQ(random(), 0xdb20fe9d672d0fdcU);
  EXPECT_EQ(random(), 0xd7e772cee186176bU);
  EXPECT_EQ(random(), 0x7e68b68aec7ba23bU);
}

// Which field goes where is part of what makes old runs reproducible.
TEST(AddressedRandom, AddressesStayWhereTheyAre) {
  AddressedRandom random(0x0123456789abcdef, Purpose::topology, 42, 1000000007);
  for (std::uint64_t block = 0; block < 3; ++block) {
    for (const std::uint64_t word : philox({block, 42, 1000000007, 0}, {0x0123456789abcdef, 3})) {
      EXPECT_EQ(random(), word) << block;
    }
  }
}

TEST(AddressedRandom, DoesNotDependOnWhoAskedBefore) {
  AddressedRandom alone(1, Purpose::data, 2, 3);
  std::vector<std::uint64_t> expected(9);
  for (std::uint64_t& word : expected) word = alone();
  AddressedRandom other(1, Purpose::data, 2, 4);
  AddressedRandom mixed(1, Purpose::data, 2, 3);
  for (const std::uint64_t word : expected) {
    static_cast<void>(other());
    EXPECT_EQ(mixed(), word);
  }
}

TEST(AddressedRandom, EveryFieldOfTheAddressCounts) {
  std::vector<std::uint64_t> words;
  for (AddressedRandom random : {AddressedRandom(1, Purpose::data, 2, 3), AddressedRandom(4, Purpose::data, 2, 3),
                                 AddressedRandom(1, Purpose::partition, 2, 3), AddressedRandom(1, Purpose::data, 3, 3),
                                 AddressedRandom(1, Purpose::data, 2, 4), AddressedRandom(1, Purpose::data, 3, 2)}) {
    for (int i = 0; i < 8; ++i) words.push_back(random());
  }
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
}

std::vector<double> draw(std::uint64_t stream, const std::function<double(AddressedRandom&)>& one) {
  AddressedRandom random(30, Purpose::experiment, stream, 0);
  std::vector<double> values(draws);
  for (double& value : values) value = one(random);
  return values;
}

/// Largest gap between empirical and true distribution, times √n; above 2.226 with probability 1e-4.
double kolmogorov(std::vector<double> values, const std::function<double(double)>& cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double gap = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    gap = std::max({gap, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return gap * std::sqrt(n);
}
constexpr double kolmogorov_limit = 2.226;

/// Mean of the draws, and mean of their squared distances from the true mean, within what 1e-4 on each side allows.
void expect_moments(const std::vector<double>& values, double centre, double variance, double fourth) {
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(mean(values), centre, one_in_ten_thousand * std::sqrt(variance / n));
  std::vector<double> squares = values;
  for (double& value : squares) value = (value - centre) * (value - centre);
  EXPECT_NEAR(mean(squares), variance, one_in_ten_thousand * std::sqrt((fourth - variance * variance) / n));
}

// Error rate 1e-4 for the distribution, 2e-4 for each moment and correlation.
TEST(AddressedRandom, UniformIsUniform) {
  const std::vector<double> values = draw(1, [](AddressedRandom& random) { return random.uniform(); });
  EXPECT_LT(kolmogorov(values, [](double x) { return x; }), kolmogorov_limit);
  expect_moments(values, 0.5, 1.0 / 12, 1.0 / 80);
  for (std::size_t lag = 1; lag <= 4; ++lag) {
    EXPECT_LT(std::abs(autocorrelation(values, lag)), one_in_ten_thousand / std::sqrt(draws)) << lag;
  }
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double x) { return x >= 0 && x < 1; }));
}

TEST(AddressedRandom, PositiveUniformIsNeverZero) {
  const std::vector<double> values = draw(2, [](AddressedRandom& random) { return random.positive_uniform(); });
  EXPECT_LT(kolmogorov(values, [](double x) { return x; }), kolmogorov_limit);
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double x) { return x > 0 && x <= 1; }));
}

// Error rates as above.
TEST(AddressedRandom, NormalIsNormal) {
  const std::vector<double> values = draw(3, [](AddressedRandom& random) { return random.normal(); });
  EXPECT_LT(kolmogorov(values, [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }), kolmogorov_limit);
  expect_moments(values, 0, 1, 3);
  for (std::size_t lag = 1; lag <= 4; ++lag) {
    EXPECT_LT(std::abs(autocorrelation(values, lag)), one_in_ten_thousand / std::sqrt(draws)) << lag;
  }
}

// Error rate 1e-4 for each shape whose distribution is elementary: ½ takes the boosted path.
TEST(AddressedRandom, GammaFollowsItsDistribution) {
  const auto statistic = [](double shape, const std::function<double(double)>& cdf) {
    return kolmogorov(draw(4, [shape](AddressedRandom& random) { return random.gamma(shape); }), cdf);
  };
  EXPECT_LT(statistic(0.5, [](double x) { return std::erf(std::sqrt(x)); }), kolmogorov_limit);
  EXPECT_LT(statistic(1, [](double x) { return -std::expm1(-x); }), kolmogorov_limit);
  EXPECT_LT(statistic(3, [](double x) { return 1 - std::exp(-x) * (1 + x + x * x / 2); }), kolmogorov_limit);
}

// Gamma of shape k has mean k, variance k, fourth central moment 3k² + 6k. Error rate 2e-4 for each moment.
TEST(AddressedRandom, GammaHasItsMoments) {
  for (const double k : {0.1, 0.9, 1.0, 2.5, 40.0}) {
    SCOPED_TRACE(k);
    expect_moments(draw(5, [k](AddressedRandom& random) { return random.gamma(k); }), k, k, 3 * k * k + 6 * k);
  }
}

// Whatever the compiler: the draw of the larger shape comes first.
TEST(AddressedRandom, GammaDrawsInAFixedOrder) {
  AddressedRandom random(33, Purpose::experiment, 0, 0);
  AddressedRandom steps = random;
  for (int i = 0; i < 100; ++i) {
    const double boosted = steps.gamma(1.25);
    EXPECT_EQ(random.gamma(0.25), boosted * std::pow(steps.positive_uniform(), 4));
  }
}

// Error rate 1e-4 for each n.
TEST(AddressedRandom, BelowGivesEveryNumberItsShare) {
  for (const std::uint64_t n : {1U, 2U, 3U, 10U, 1000U}) {
    AddressedRandom random(31, Purpose::experiment, n, 0);
    std::vector<double> observed(n);
    for (std::size_t i = 0; i < draws; ++i) ++observed.at(random.below(n));
    const std::vector<double> expected(n, static_cast<double>(draws) / static_cast<double>(n));
    if (n == 1) {
      EXPECT_EQ(observed, expected);
    } else {
      EXPECT_LT(chi_square(observed, expected), chi_square_limit(static_cast<double>(n - 1))) << n;
    }
  }
}

// Where 2^64 is not a multiple of n, a product without rejection would give the multiples of three half of all draws.
// Error rate 1e-4.
TEST(AddressedRandom, BelowHasNoBias) {
  constexpr std::uint64_t n = std::uint64_t{3} << 62;
  AddressedRandom random(32, Purpose::experiment, 0, 0);
  std::vector<double> observed(3);
  for (std::size_t i = 0; i < draws; ++i) {
    const std::uint64_t value = random.below(n);
    ASSERT_LT(value, n);
    ++observed[value % 3];
  }
  EXPECT_LT(chi_square(observed, std::vector<double>(3, draws / 3.0)), chi_square_limit(2));
}

}  // namespace starling::random_test
