#include "inference/curvature_bias.hpp"

#include <cmath>
#include <gmock/gmock.h>

#include <Eigen/Dense>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::curvature_bias_test {

Vector packed(const Eigen::MatrixXd& matrix) {
  Vector triangle;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = i; j < matrix.cols(); ++j) triangle.push_back(matrix(i, j));
  }
  return triangle;
}

Eigen::MatrixXd symmetric_normal(Eigen::Index d, AddressedRandom& random) {
  Eigen::MatrixXd matrix(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = i; j < d; ++j) matrix(i, j) = matrix(j, i) = random.normal();
  }
  return matrix;
}

Vector entries(const Eigen::VectorXd& x) {
  return {x.begin(), x.end()};
}

TEST(CurvatureBias, IsItsFormula) {
  AddressedRandom random(31, Purpose::experiment, 0, 0);
  const Eigen::Index d = 3;
  const int n = 200;
  CurvatureBias bias(3, 0);
  std::vector<Eigen::MatrixXd> curvatures;
  std::vector<Eigen::VectorXd> models;
  for (int i = 0; i < n; ++i) {
    curvatures.emplace_back(4 * Eigen::MatrixXd::Identity(d, d) + symmetric_normal(d, random));
    models.emplace_back(Eigen::Vector3d(random.normal(), 100 + random.normal(), random.normal()));
    bias.add(packed(curvatures.back()), entries(models.back()));
  }
  Eigen::VectorXd centre = Eigen::VectorXd::Zero(d);
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(d, d);
  for (int i = 0; i < n; ++i) {
    centre += models[static_cast<std::size_t>(i)] / n;
    mean += curvatures[static_cast<std::size_t>(i)] / n;
  }
  Eigen::VectorXd product = Eigen::VectorXd::Zero(d);
  for (std::size_t i = 0; i < n; ++i) product += curvatures[i] * (models[i] - centre) / n;
  const Eigen::VectorXd expected = -0.5 * mean.inverse() * product;
  const auto found = bias.estimate();
  ASSERT_TRUE(found.has_value());
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(found->bias[j], expected[static_cast<Eigen::Index>(j)], 1e-12);
    EXPECT_EQ(found->noise[j], 0);
  }
}

TEST(CurvatureBias, IsThatOfAQuadraticMean) {
  // Ψ(θ) = aδ + bδ²/2 has mean zero along a path of mean m and variance v if a m + b (m² + v)/2 = 0.
  const double a = 2;
  const double b = 0.5;
  const double v = 0.04;
  const double m = (-a + std::sqrt(a * a - b * b * v)) / b;
  CurvatureBias bias(1, 0);
  for (int i = 0; i < 1000; ++i) {
    const double theta = 7 + m + (i % 2 == 0 ? 1 : -1) * std::sqrt(v);
    bias.add(Vector{a + b * (theta - 7)}, Vector{theta});
  }
  EXPECT_NEAR(bias.estimate()->bias[0], m, 0.01 * std::abs(m));
}

TEST(CurvatureBias, ItsNoiseIsThatOfTheCurvatures) {
  // One path, 400 draws of noise: the mean square of (bias − exact)/noise has standard deviation √(2/400) = 0.071 for
  // each of two coordinates; 5 of them (error rate 1e-6), and the noise on Â, which changes the inverse by 1 %.
  AddressedRandom random(32, Purpose::experiment, 0, 0);
  const int n = 500;
  std::vector<Vector> models;
  for (int i = 0; i < n; ++i) models.push_back({random.normal(), 3 * random.normal()});
  const Eigen::MatrixXd curvature = Eigen::Vector2d(4, 9).asDiagonal();
  CurvatureBias exact(2, 0);
  for (const Vector& model : models) exact.add(packed(curvature), model);
  double squares[2] = {};
  for (int draw = 0; draw < 400; ++draw) {
    CurvatureBias noisy(2, 0.5);
    for (const Vector& model : models) noisy.add(packed(curvature + 0.5 * symmetric_normal(2, random)), model);
    const auto found = noisy.estimate();
    ASSERT_TRUE(found.has_value());
    for (std::size_t j = 0; j < 2; ++j) {
      squares[j] += std::pow((found->bias[j] - exact.estimate()->bias[j]) / found->noise[j], 2) / 400;
    }
  }
  EXPECT_NEAR(squares[0], 1, 0.38);
  EXPECT_NEAR(squares[1], 1, 0.38);
}

TEST(CurvatureBias, NoneWhereTheCurvatureIsNotKnown) {
  CurvatureBias flat(2, 0);
  EXPECT_FALSE(flat.estimate().has_value());
  flat.add(Vector{1, 1, 1}, Vector{0, 0});
  EXPECT_FALSE(flat.estimate().has_value());
  // Positive, but below what noise of 1/√n makes.
  CurvatureBias hidden(1, 1.0);
  for (int i = 0; i < 100; ++i) hidden.add(Vector{0.19}, Vector{static_cast<double>(i % 3)});
  EXPECT_FALSE(hidden.estimate().has_value());
  CurvatureBias seen(1, 1.0);
  for (int i = 0; i < 100; ++i) seen.add(Vector{0.21}, Vector{static_cast<double>(i % 3)});
  EXPECT_TRUE(seen.estimate().has_value());
}

TEST(CurvatureBias, IsTakenOffAndItsNoiseAddedToTheVariance) {
  const Spread spread{{1, 2}, {0.3, 0.4}};
  const BiasEstimate bias{{0.1, -0.2}, {0.4, 0}};
  const Spread better = less_bias(spread, bias, variance_share);
  EXPECT_EQ(better.estimate, (Vector{0.9, 2.2}));
  EXPECT_NEAR(better.spread[0], 0.5, 1e-15);
  EXPECT_NEAR(better.spread[1], 0.4, 1e-15);
  EXPECT_NEAR(less_bias(spread, bias, variance_share_of_random_scaling).spread[0], std::sqrt(0.09 + 0.16 / 6), 1e-15);
}

TEST(CurvatureBias, WarnsBeyondAQuarterOfTheHalfWidth) {
  const std::vector<std::string> names{"age", "(intercept)"};
  const Spread spread{{1, 2}, {0.1, 0.1}};
  // Half-widths 0.2: a quarter is 0.05.
  EXPECT_FALSE(curvature_bias_warning({{0.049, -0.049}, {0, 0}}, spread, 2, names).has_value());
  const auto one = curvature_bias_warning({{0.049, -0.06}, {0, 0}}, spread, 2, names);
  ASSERT_TRUE(one.has_value());
  EXPECT_THAT(*one, testing::HasSubstr("'(intercept)' -0.06"));
  EXPECT_THAT(*one, testing::Not(testing::HasSubstr("likewise")));
  const auto both = curvature_bias_warning({{0.08, -0.06}, {0, 0}}, spread, 2, names);
  ASSERT_TRUE(both.has_value());
  EXPECT_THAT(*both, testing::HasSubstr("'age' 0.08"));
  EXPECT_THAT(*both, testing::HasSubstr("1 more likewise"));
  // What noise may be is no reason to warn.
  EXPECT_FALSE(curvature_bias_warning({{0.08, 0}, {0.041, 0}}, spread, 2, names).has_value());
}

}  // namespace starling::curvature_bias_test
