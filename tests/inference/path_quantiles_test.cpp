#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Dense>

#include "core/check.hpp"
#include "core/random.hpp"
#include "inference/path_intervals.hpp"
#include "support/testing.hpp"

namespace starling::path_quantiles_test {

/// Draws of W(1)' {∫ W̄ W̄'}⁻¹ W(1) from random walks of `steps` steps in p dimensions.
Vector draws_of_joint(Eigen::Index p, int steps, std::uint64_t draws) {
  Vector result;
  for (std::uint64_t i = 0; i < draws; ++i) {
    AddressedRandom random(77, Purpose::experiment, static_cast<std::uint64_t>(p), i);
    Eigen::MatrixXd walk(p, steps);
    Eigen::VectorXd at = Eigen::VectorXd::Zero(p);
    for (int b = 0; b < steps; ++b) {
      for (Eigen::Index j = 0; j < p; ++j) at[j] += random.normal() / std::sqrt(steps);
      walk.col(b) = at;
    }
    for (int b = 0; b < steps; ++b) walk.col(b) -= (b + 1.0) / steps * at;
    result.push_back(at.dot((walk * walk.transpose() / steps).llt().solve(at)));
  }
  return result;
}

double share_above(const Vector& draws, double bound) {
  const auto above = std::count_if(draws.begin(), draws.end(), [bound](double x) { return x > bound; });
  return static_cast<double>(above) / static_cast<double>(draws.size());
}

TEST(RandomScalingQuantile, IsThePagesTable) {
  EXPECT_NEAR(random_scaling_quantile(0.95), 6.747, 6e-4);
  EXPECT_NEAR(random_scaling_quantile(0.90), 5.323, 6e-4);
  EXPECT_NEAR(random_scaling_quantile(0.80), 3.875, 6e-4);
}

TEST(RandomScalingQuantile, InvertsTheTail) {
  for (const double level : {1e-6, 0.1, 0.5, 0.8, 0.95, 0.99, 0.9999, 1 - 1e-9}) {
    EXPECT_NEAR(random_scaling_tail(random_scaling_quantile(level)), 1 - level, 1e-11) << level;
  }
  EXPECT_EQ(random_scaling_tail(0), 1);
  EXPECT_GT(random_scaling_tail(40), 0);
  EXPECT_THROW((void)random_scaling_quantile(1), UsageError);
  EXPECT_THROW((void)random_scaling_quantile(0), UsageError);
  EXPECT_THROW((void)random_scaling_tail(-1), UsageError);
}

TEST(RandomScalingQuantile, TheTailIsThatOfRandomWalks) {
  // 10,000 walks of 1,000 steps: the share above a quantile has a standard deviation of 0.22, 0.3, 0.4 points, of
  // which four are allowed (error rate 6e-5 each), and 0.1 points for the steps.
  const Vector draws = draws_of_joint(1, 1000, 10000);
  for (const double tail : {0.05, 0.1, 0.2}) {
    const double quantile = random_scaling_quantile(1 - tail);
    EXPECT_NEAR(share_above(draws, quantile * quantile), tail, 4 * std::sqrt(tail * (1 - tail) / 1e4) + 1e-3);
  }
}

TEST(JointQuantile, OfOneCoordinateIsASquare) {
  EXPECT_NEAR(joint_quantile(1, 0.95), 6.7473021 * 6.7473021, 1e-4);
}

TEST(JointQuantile, IsThatOfRandomWalks) {
  // As above, with 0.25 points for the steps and the quantile's own error.
  const Vector draws = draws_of_joint(3, 500, 5000);
  for (const double tail : {0.05, 0.2}) {
    EXPECT_NEAR(share_above(draws, joint_quantile(3, 1 - tail)), tail,
                4 * std::sqrt(tail * (1 - tail) / 5000) + 2.5e-3);
  }
}

TEST(JointQuantile, GrowsWithLevelAndCoordinates) {
  EXPECT_LT(joint_quantile(2, 0.9), joint_quantile(2, 0.95));
  EXPECT_LT(joint_quantile(2, 0.95), joint_quantile(4, 0.95));
  EXPECT_EQ(joint_quantile(2, 0.9), joint_quantile(2, 0.9));
  EXPECT_THROW((void)joint_quantile(0, 0.9), UsageError);
  EXPECT_THROW((void)joint_quantile(3, 1.5), UsageError);
}

}  // namespace starling::path_quantiles_test
