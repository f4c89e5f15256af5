#include "core/numerics/contribution_mean.hpp"

#include <cmath>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::contribution_mean_test {

constexpr double u = 0x1p-53;

TEST(ContributionMean, IsTheMean) {
  ContributionMean mean;
  mean.begin(2);
  EXPECT_EQ(Vector(mean.mean().begin(), mean.mean().end()), Vector(2));
  mean.add(Vector{1, -2});
  mean.add(Vector{3, 6});
  EXPECT_EQ(mean.count(), 2);
  EXPECT_EQ(Vector(mean.mean().begin(), mean.mean().end()), (Vector{2, 2}));
  mean.begin(1);
  mean.add(Vector{7});
  EXPECT_EQ(mean.mean()[0], 7);
}

// Integers times powers of two have sums that 128 bits hold, so the error can be told exactly enough. A plain sum errs
// by more than the bound on the same terms.
TEST(ContributionMean, ErrsByThreeUnitsOfTheMeanMagnitude) {
  AddressedRandom random(3, Purpose::experiment, 0, 0);
  ContributionMean mean;
  mean.begin(1);
  constexpr std::int64_t n = 300'001;
  __extension__ using Wide = __int128;
  Wide exact = 0;  // in units of 2^-40
  Wide magnitude = 0;
  double plain = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto units = static_cast<std::int64_t>(std::ldexp(random.uniform() - 0.4, 50));
    const double term = std::ldexp(static_cast<double>(units), -40);
    exact += units;
    magnitude += std::abs(units);
    plain += term;
    mean.add(Vector{term});
  }
  const auto error_of_mean = [&](double value) {  // of n times the mean, in the same units
    const long double of_sum = static_cast<long double>(value) * n - std::ldexp(static_cast<long double>(exact), -40);
    return std::abs(static_cast<double>(of_sum)) / n;
  };
  const double allowed = 3 * u * std::ldexp(static_cast<double>(magnitude), -40) / n;
  EXPECT_LE(error_of_mean(mean.mean()[0]), allowed);
  EXPECT_GT(error_of_mean(plain / n), allowed);
}

TEST(ContributionMean, KeepsTermsThatCancel) {
  ContributionMean mean;
  mean.begin(1);
  for (int i = 0; i < 1000; ++i) {
    mean.add(Vector{1e16});
    mean.add(Vector{1});
    mean.add(Vector{-1e16});
  }
  EXPECT_DOUBLE_EQ(mean.mean()[0], 1.0 / 3);
}

}  // namespace starling::contribution_mean_test
