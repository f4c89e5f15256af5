#include "starling/core/numerics/normal.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace starling::normal_test {

TEST(Normal, HasTheValuesOfTables) {
  EXPECT_NEAR(normal_cdf(-1), 0.15865525393145707, 1e-16);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
  EXPECT_NEAR(two_sided_normal_quantile(0.95), 1.959963984540054, 1e-15);
  EXPECT_NEAR(two_sided_normal_quantile(0.5), 0.6744897501960817, 1e-15);
}

TEST(Normal, QuantilesInvertProbabilities) {
  for (const double p : {1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.7, 0.999}) {
    EXPECT_NEAR(normal_cdf(normal_quantile(p)), p, 1e-12 * p) << p;
  }
  EXPECT_EQ(normal_quantile(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(normal_quantile(1), std::numeric_limits<double>::infinity());
}

}  // namespace starling::normal_test
