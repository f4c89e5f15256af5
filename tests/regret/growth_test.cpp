// Exponents of curves whose growth is known, and errors that must cover it as often as they claim.
#include "regret/growth.hpp"

#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "regret/regret.hpp"
#include "support/testing.hpp"

namespace starling::growth_test {

using namespace testing_support;

TEST(GrowthMarks, RiseByThirtyPercentToTheLast) {
  EXPECT_EQ(growth_marks(20), (std::vector<Round>{1, 2, 3, 4, 6, 8, 11, 15, 20}));
  EXPECT_EQ(growth_marks(1), (std::vector<Round>{1}));
  EXPECT_TRUE(growth_marks(0).empty());
  const std::vector<Round> marks = growth_marks(1'000'000);
  EXPECT_EQ(marks.back(), 1'000'000);
  EXPECT_LT(marks.size(), 60U);
}

Vector power(const std::vector<Round>& rounds, double scale, double exponent) {
  Vector sums;
  for (const Round t : rounds) sums.push_back(scale * std::pow(static_cast<double>(t), exponent));
  return sums;
}

TEST(GrowthFit, FindsPowersExactly) {
  const std::vector<Round> rounds = growth_marks(10'000);
  for (const double exponent : {0.0, 0.5, 0.75, 1.0, 1.5}) {
    const auto fit = fit_growth(rounds, power(rounds, 3, exponent));
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->exponent, exponent, 1e-12);
    EXPECT_NEAR(fit->scale, 3, 1e-9);
    EXPECT_NEAR(fit->standard_error, 0, 1e-12);
    EXPECT_GE(fit->from, 1000);
    EXPECT_GE(fit->points, 9U);
  }
}

// Only the last decade counts: before it the curve may be anything.
TEST(GrowthFit, LooksAtTheLastDecade) {
  const std::vector<Round> rounds = growth_marks(100'000);
  Vector sums = power(rounds, 1, 0.5);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i] < 10'000) sums[i] = i % 2 == 0 ? -1 : std::numeric_limits<double>::quiet_NaN();
  }
  const auto fit = fit_growth(rounds, sums);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 0.5, 1e-12);
}

TEST(GrowthFit, IsNoneWhereRegretIsNotPositiveOrUnknown) {
  const std::vector<Round> rounds = growth_marks(1000);
  Vector sums = power(rounds, 1, 0.5);
  sums[sums.size() - 3] = -0.1;
  EXPECT_FALSE(fit_growth(rounds, sums));
  sums[sums.size() - 3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fit_growth(rounds, sums));
  EXPECT_FALSE(fit_growth({}, {}));
  EXPECT_FALSE(fit_growth({1, 2, 3, 4}, power({1, 2, 3, 4}, 1, 1)));
}

// 2000 random sums whose gains have a known mean and independent noise, t^0.5 with gains ±50 % noise by the round:
// the exponent is right on average and lies within two standard errors in nearly 95 of 100 cases (nine degrees of
// freedom; a straight fit that took the points for independent covers far fewer). The share of 2000 has a standard
// error of 0.6 %; bounds are 85 % and 99 %, more than five of them from what is seen.
TEST(GrowthFit, StandardErrorsCoverAsClaimed) {
  const std::vector<Round> rounds = growth_marks(3000);
  int covered = 0;
  double mean = 0;
  constexpr int curves = 2000;
  for (int c = 0; c < curves; ++c) {
    AddressedRandom random(11, Purpose::experiment, static_cast<std::uint64_t>(c), 0);
    Vector sums;
    double total = 0;
    Round t = 0;
    for (const Round mark : rounds) {
      for (; t < mark; ++t) {
        total += std::sqrt(static_cast<double>(t + 1)) - std::sqrt(static_cast<double>(t)) + 0.1 * random.normal();
      }
      sums.push_back(total);
    }
    const auto fit = fit_growth(rounds, sums);
    ASSERT_TRUE(fit);
    mean += fit->exponent / curves;
    covered += std::abs(fit->exponent - 0.5) <= 2 * fit->standard_error ? 1 : 0;
  }
  EXPECT_NEAR(mean, 0.5, 0.01);
  EXPECT_GE(covered, curves * 85 / 100);
  EXPECT_LE(covered, curves * 99 / 100);
}

TEST(RegretCurve, IsReadAsItWasWritten) {
  const testing_support::TemporaryFolder folder;
  RegretCurve curve;
  curve.rounds = growth_marks(500);
  curve.fixed = power(curve.rounds, 2, 0.5);
  curve.moving = Vector(curve.rounds.size(), std::numeric_limits<double>::quiet_NaN());
  curve.path_length = power(curve.rounds, 1, 1);
  curve.fixed_growth = fit_growth(curve.rounds, curve.fixed);
  const std::string path = folder / "";
  EXPECT_FALSE(read_regret_curve(path));
  write_regret_curve(path, curve);
  const auto read = read_regret_curve(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rounds, curve.rounds);
  EXPECT_NEAR(read->fixed.back(), curve.fixed.back(), 1e-7);
  EXPECT_TRUE(std::isnan(read->moving.back()));
  ASSERT_TRUE(read->fixed_growth);
  EXPECT_NEAR(read->fixed_growth->exponent, 0.5, 1e-8);
  static_cast<void>(
      folder.write("regret.csv", "rounds,static,dynamic,path_length,static_fitted,dynamic_fitted\n1,x,,,,\n"));
  EXPECT_ERROR(DataError, "line 2", read_regret_curve(path));
}

}  // namespace starling::growth_test
