#include "core/numerics/logarithm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "core/columns.hpp"
#include "core/random.hpp"

namespace starling::logarithm_test {

/// Distance of ln(1 + x) from the true value, in units of the last place of a double of its size.
long double error(double x) {
  const long double truth = std::log1p(static_cast<long double>(x));
  const int digit = std::max(std::ilogb(truth) - 52, -1074);
  return std::abs(logarithm_of_one_and(x) - truth) / std::ldexp(1.0L, digit);
}

TEST(Logarithm, IsLessThanAUnitInTheLastPlaceFromTheTruth) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no longer numbers to compare with";
  AddressedRandom random(1, Purpose::experiment, 0, 0);
  const double bend = std::sqrt(2.0) - 1;  // where 1 + x is halved
  long double worst = 0;
  for (int i = 0; i < 300'000; ++i) {
    const double u = random.uniform();
    for (const double x : {u, std::exp(-40 * u), std::exp(-744 * u), bend * (1 + 1e-3 * (u - 0.5)), 1 - 1e-9 * u}) {
      const long double found = error(x);
      ASSERT_LT(found, 1) << "ln(1 + " << x << ")";
      worst = std::max(worst, found);
    }
  }
  EXPECT_GT(worst, 0.5) << "the comparison sees errors";
}

TEST(Logarithm, HasItsEnds) {
  EXPECT_EQ(logarithm_of_one_and(0), 0);
  EXPECT_EQ(logarithm_of_one_and(1), std::log(2.0));
  EXPECT_EQ(logarithm_of_one_and(std::numeric_limits<double>::denorm_min()), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(logarithm_of_one_and(0x1p-54), 0x1p-54);
  EXPECT_TRUE(std::isnan(logarithm_of_one_and(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Logarithm, HasTheSameBitsInALoopAndAlone) {
  AddressedRandom random(2, Purpose::experiment, 0, 0);
  for (const std::size_t n : {1, 3, 4, 5, 8, 13, 1001}) {
    Vector x(n);
    for (double& value : x) value = random.uniform();
    Vector together = x;
    for (double& value : together) value = logarithm_of_one_and(value);
    for (std::size_t i = 0; i < n; ++i) {
      volatile double alone = x[i];
      ASSERT_EQ(std::bit_cast<std::uint64_t>(together[i]), std::bit_cast<std::uint64_t>(logarithm_of_one_and(alone)))
          << x[i];
    }
  }
}

}  // namespace starling::logarithm_test
