#include "protocol/curvature/second_look.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace starling::second_look_test {

static double probability(double score) {
  return 1 / (1 + std::exp(-score));
}

TEST(SecondLook, IsTheMinimumWhereCurvaturesStay) {
  const Vector triangle{4, 1, 3};  // of a batch
  SecondLook look(1, 2);
  Vector target(2);
  for (int b = 0; b < 6; ++b) {
    const Vector theta{0.5 * b, 2.0 - b};
    const Vector minimum{1.0 + b, -1.0 * b};  // of the batch
    const Vector off{theta[0] - minimum[0], theta[1] - minimum[1]};
    look.add(Vector{4 * off[0] + off[1], off[0] + 3 * off[1]}, theta, triangle, 10);
    for (std::size_t i = 0; i < 2; ++i) target[i] += minimum[i] / 6;
  }
  const auto found = look.estimate(BlockCurvature(1, 2));
  ASSERT_TRUE(found.has_value());
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(found->theta[i], target[i], 1e-12);
  EXPECT_NEAR(found->curvature.times(Vector{1, 0})[0], 24, 1e-12);
}

/// An intercept alone, renewed from batches whose first have no ones: maximum likelihood is the log-odds of all ones.
TEST(SecondLook, LeavesLittleOfWhatFirstBatchesMoved) {
  SecondLook look(1, 1);
  BlockCurvature known(1, 1);
  known.add(Vector{0.25});
  BlockCurvature j = known;
  double theta = -3;
  double ones = 0;
  constexpr double records = 50;
  constexpr int batches = 40;
  for (int b = 0; b < batches; ++b) {
    const double own = b < 3 ? 0 : b % 2 == 0 ? 22 : 28;
    const double p = probability(theta);
    const Vector gradient{records * p - own};
    const Vector curvature{records * p * (1 - p)};
    look.add(gradient, Vector{theta}, curvature, records);
    j.add(curvature);
    theta -= j.solve(gradient, "batch")[0];
    ones += own;
  }
  const double share = ones / (records * batches);
  const double likeliest = std::log(share / (1 - share));
  const auto found = look.estimate(known);
  ASSERT_TRUE(found.has_value());
  EXPECT_GT(std::abs(theta - likeliest), 0.04);  // about a standard error
  EXPECT_LT(std::abs(found->theta[0] - likeliest), 0.5 * std::abs(theta - likeliest));
}

TEST(SecondLook, NeedsADeterminedModel) {
  SecondLook look(1, 1);
  EXPECT_FALSE(look.estimate(BlockCurvature(1, 1)).has_value());
  look.add(Vector{1}, Vector{0}, Vector{0}, 5);
  EXPECT_FALSE(look.estimate(BlockCurvature(1, 1)).has_value());
}

}  // namespace starling::second_look_test
