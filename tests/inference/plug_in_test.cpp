#include "inference/plug_in.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"
#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::plug_in_test {

Vector packed(const Eigen::MatrixXd& matrix) {
  Vector triangle;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = i; j < matrix.cols(); ++j) triangle.push_back(matrix(i, j));
  }
  return triangle;
}

/// (1/n) Σ x x' of normal rows.
Eigen::MatrixXd gram(Eigen::Index d, int n, std::uint64_t stream) {
  AddressedRandom random(21, Purpose::experiment, stream, 0);
  Eigen::MatrixXd rows(n, d);
  for (Eigen::Index i = 0; i < rows.size(); ++i) rows.data()[i] = random.normal();
  return rows.transpose() * rows / n;
}

/// Symmetric, with normal entries.
Eigen::MatrixXd symmetric_noise(Eigen::Index d, double scale, std::uint64_t stream) {
  AddressedRandom random(22, Purpose::experiment, stream, 0);
  Eigen::MatrixXd noise(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = i; j < d; ++j) noise(i, j) = noise(j, i) = scale * random.normal();
  }
  return noise;
}

const double infinite = std::numeric_limits<double>::infinity();

TEST(PlugIn, IsTheSandwich) {
  const Eigen::MatrixXd a = gram(4, 50, 1);
  const Eigen::MatrixXd g = gram(4, 50, 2);
  const Vector estimate{1, 2, 3, 4};
  const PlugIn result = plug_in(estimate, {packed(a)}, {packed(g)}, 400);
  const Eigen::MatrixXd expected = a.inverse() * g * a.inverse();
  EXPECT_EQ(result.spread.estimate, estimate);
  for (Eigen::Index j = 0; j < 4; ++j) {
    EXPECT_NEAR(result.spread.spread[static_cast<std::size_t>(j)], std::sqrt(expected(j, j) / 400), 1e-12);
  }
  EXPECT_TRUE(result.undetermined.empty());
}

TEST(PlugIn, UnitsOfFeaturesDoNotMatterWithoutNoise) {
  // Columns times 1e-5 and 1e5: eigenvalues are 1e20 apart, correlations as they were.
  const Eigen::MatrixXd a = gram(3, 50, 3);
  const Eigen::MatrixXd g = gram(3, 50, 4);
  const Eigen::DiagonalMatrix<double, 3> units(1e-5, 1e5, 1);
  const PlugIn plain = plug_in(Vector(3), {packed(a)}, {packed(g)}, 100);
  const PlugIn scaled = plug_in(Vector(3), {packed(units * a * units)}, {packed(units * g * units)}, 100);
  EXPECT_TRUE(scaled.undetermined.empty());
  for (std::size_t j = 0; j < 3; ++j) {
    const double unit = units.diagonal()[static_cast<Eigen::Index>(j)];
    EXPECT_NEAR(scaled.spread.spread[j] * unit, plain.spread.spread[j], 1e-9 * plain.spread.spread[j]);
  }
}

TEST(PlugIn, AConstantColumnBesideTheInterceptIsNamed) {
  // Coordinate 1 is always 0.5, coordinate 3 (the intercept) always 1.
  Eigen::MatrixXd rows(60, 4);
  AddressedRandom random(23, Purpose::experiment, 0, 0);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) rows.row(i) << random.normal(), 0.5, random.normal() + 2, 1;
  const Eigen::MatrixXd a = rows.transpose() * rows / 60;
  const PlugIn result = plug_in(Vector(4), {packed(a)}, {packed(a)}, 60);
  EXPECT_EQ(result.undetermined, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(result.spread.spread[1], infinite);
  EXPECT_EQ(result.spread.spread[3], infinite);
  // The others have what they have when the column is not there.
  Eigen::MatrixXd kept(60, 3);
  kept << rows.col(0), rows.col(2), rows.col(3);
  const Eigen::MatrixXd b = kept.transpose() * kept / 60;
  const PlugIn without = plug_in(Vector(3), {packed(b)}, {packed(b)}, 60);
  EXPECT_NEAR(result.spread.spread[0], without.spread.spread[0], 1e-6);
  EXPECT_NEAR(result.spread.spread[2], without.spread.spread[1], 1e-6);
  EXPECT_LT(result.least_curvature, result.curvature_floor);
}

TEST(PlugIn, AColumnOfZerosIsNamed) {
  Eigen::MatrixXd a = gram(3, 50, 5);
  a.row(1).setZero();
  a.col(1).setZero();
  const PlugIn result = plug_in(Vector(3), {packed(a)}, {packed(a)}, 50);
  EXPECT_EQ(result.undetermined, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(std::isfinite(result.spread.spread[0]));
}

TEST(PlugIn, NoiseHidesADirection) {
  // Entries of standard deviation 0.01 on a matrix of eigenvalues 1, 1, 0: κ = 0.035.
  const double noise = 0.01;
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(3, 3);
  a(0, 0) = a(1, 1) = 0.5;
  a(0, 1) = a(1, 0) = 0.5;
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    const Vector released = packed(a + symmetric_noise(3, noise, stream));
    const PlugIn result = plug_in(Vector(3), {released, noise}, {packed(Eigen::MatrixXd::Identity(3, 3))}, 100);
    EXPECT_EQ(result.undetermined, (std::vector<std::size_t>{0, 1}));
    ASSERT_EQ(result.hidden.size(), 1U);
    EXPECT_NEAR(std::abs(result.hidden[0][0] - result.hidden[0][1]), std::sqrt(2.0), 0.01) << "(1, -1, 0)/sqrt(2)";
    // What noise mixes of the hidden direction into the third counts as well: (σ/κ)² of its own 0.01 or so.
    EXPECT_NEAR(result.spread.spread[2], 0.105, 0.02);
    EXPECT_NEAR(result.curvature_floor, 2 * noise * std::sqrt(3.0), 1e-15);
  }
}

TEST(PlugIn, TheFloorBindsOnNoiseAloneAndNotAboveTwice) {
  // d = 40: an eigenvalue of pure noise lies above κ = 2σ√d·(1 + a little) hardly ever, one of 2κ below κ never.
  const Eigen::Index d = 40;
  const double noise = 0.02;
  const double kappa = 2 * noise * std::sqrt(40.0);
  const Eigen::MatrixXd meat = Eigen::MatrixXd::Identity(d, d);
  for (std::uint64_t stream = 100; stream < 120; ++stream) {
    const Eigen::MatrixXd sound = 2.5 * kappa * meat + symmetric_noise(d, noise, stream);
    EXPECT_TRUE(plug_in(Vector(40), {packed(sound), noise}, {packed(meat)}, 10).undetermined.empty());
    const Vector nothing = packed(symmetric_noise(d, 0.9 * noise, stream));
    EXPECT_EQ(plug_in(Vector(40), {nothing, noise}, {packed(meat)}, 10).undetermined.size(), 40U);
  }
}

TEST(PlugIn, AnInfluenceThatNoiseMadeNegativeIsRaised) {
  Eigen::MatrixXd g = Eigen::MatrixXd::Identity(2, 2);
  g(1, 1) = -0.2;
  const PlugIn result = plug_in(Vector(2), {packed(Eigen::MatrixXd::Identity(2, 2))}, {packed(g), 0.1}, 100);
  EXPECT_NEAR(result.spread.spread[0], 0.1, 1e-12);
  EXPECT_NEAR(result.spread.spread[1], std::sqrt(0.2 * std::sqrt(2.0) / 100), 1e-12);
}

TEST(PlugIn, WhatIsNoMatrixIsRefused) {
  const Vector three{1, 0, 1};
  EXPECT_THROW((void)plug_in(Vector(2), {three}, {three}, 0), UsageError);
  EXPECT_THROW((void)plug_in(Vector(3), {three}, {three}, 10), UsageError);
  EXPECT_THROW((void)plug_in(Vector(2), {Vector{1, std::nan(""), 1}}, {three}, 10), DataError);
}

}  // namespace starling::plug_in_test
