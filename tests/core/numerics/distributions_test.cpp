#include "core/numerics/distributions.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace starling::distributions_test {

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

TEST(ChiSquared, HasTheValuesOfTables) {
  EXPECT_NEAR(chi_squared_quantile(1, 0.95), 3.841458820694124, 1e-13);
  EXPECT_NEAR(chi_squared_quantile(10, 0.99), 23.209251158954356, 1e-12);
}

TEST(Student, HasTheValuesOfTables) {
  EXPECT_NEAR(two_sided_t_quantile(1, 0.5), 1, 1e-13);  // Cauchy's quartile
  EXPECT_NEAR(two_sided_t_quantile(10, 0.95), 2.2281388519649385, 1e-9);
  EXPECT_NEAR(two_sided_t_quantile(1e7, 0.95), two_sided_normal_quantile(0.95), 1e-6);
}

TEST(Beta, QuantilesOfKnownDistributions) {
  EXPECT_NEAR(beta_quantile(2, 1, 0.25), 0.5, 1e-15);         // x² up to x
  EXPECT_NEAR(upper_beta_quantile(1, 3, 0.001), 0.9, 1e-14);  // (1 − x)³ beyond x
  EXPECT_NEAR(beta_quantile(5, 8, 0.3), upper_beta_quantile(5, 8, 0.7), 1e-14);
}

}  // namespace starling::distributions_test
