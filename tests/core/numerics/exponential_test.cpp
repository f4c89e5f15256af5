#include "core/numerics/exponential.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "core/columns.hpp"
#include "core/random.hpp"

namespace starling::exponential_test {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Distance of e^x from the true value, in units of the last place of a double of its size.
long double error(double x) {
  const long double truth = std::exp(static_cast<long double>(x));
  const int digit = std::max(std::ilogb(truth) - 52, -1074);
  return std::abs(exponential(x) - truth) / std::ldexp(1.0L, digit);
}

double uniform(AddressedRandom& random, double least, double most) {
  return least + (most - least) * random.uniform();
}

TEST(Exponential, IsLessThanAUnitInTheLastPlaceFromTheTruth) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no longer numbers to compare with";
  AddressedRandom random(1, Purpose::experiment, 0, 0);
  long double worst = 0;
  for (int i = 0; i < 300'000; ++i) {
    for (const double x : {uniform(random, -1, 1), uniform(random, -40, 0), uniform(random, -745, 709.78)}) {
      const long double found = error(x);
      ASSERT_LT(found, 1) << "e^" << x;
      worst = std::max(worst, found);
    }
  }
  EXPECT_GT(worst, 0.5) << "the comparison sees errors";
}

TEST(Exponential, IsCloseWhereTheReducedArgumentIsLargest) {
  for (int k = -1074; k <= 1023; ++k) {
    const double x = (k + 0.5) * std::log(2.0);
    for (const double y : {std::nextafter(x, -infinity), x, std::nextafter(x, infinity)}) ASSERT_LT(error(y), 1) << y;
  }
}

TEST(Exponential, HasItsEnds) {
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-0.0), 1);
  EXPECT_EQ(exponential(-infinity), 0);
  EXPECT_EQ(exponential(-1e300), 0);
  EXPECT_EQ(exponential(-745.14), 0) << "e^x is less than half of the smallest number";
  EXPECT_EQ(exponential(-745.13), std::numeric_limits<double>::denorm_min());
  EXPECT_LT(exponential(709.782), infinity);
  EXPECT_EQ(exponential(709.783), infinity);
  EXPECT_EQ(exponential(1e300), infinity);
  EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Exponential, HasTheSameBitsInALoopAndAlone) {
  AddressedRandom random(2, Purpose::experiment, 0, 0);
  for (const std::size_t n : {1, 3, 4, 5, 8, 13, 1001}) {
    Vector x(n);
    for (double& value : x) value = uniform(random, -760, 720);
    x[n / 2] = -infinity;
    Vector together = x;
    for (double& value : together) value = exponential(value);
    for (std::size_t i = 0; i < n; ++i) {
      volatile double alone = x[i];
      ASSERT_EQ(std::bit_cast<std::uint64_t>(together[i]), std::bit_cast<std::uint64_t>(exponential(alone))) << x[i];
    }
  }
}

}  // namespace starling::exponential_test
