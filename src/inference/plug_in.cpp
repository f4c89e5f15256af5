#include "inference/plug_in.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "core/numerics/dense.hpp"
#include "core/numerics/gram.hpp"

namespace starling {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_relative = 1e-10;     ///< floor for a matrix of diagonal 1 without noise
constexpr double weight_that_counts = 0.01;  ///< least v_j² of an undetermined coordinate

MatrixXd checked_matrix(View triangle, Index order, const char* name) {
  check(triangle.size() == triangle_size(static_cast<std::size_t>(order)),
        "plug-in: {} entries of the {} for {} coefficients: a packed upper triangle has {}.", triangle.size(), name,
        order, triangle_size(static_cast<std::size_t>(order)));
  MatrixXd matrix = dense::symmetric(triangle, static_cast<std::size_t>(order));
  check<DataError>(
      matrix.allFinite(),
      "plug-in: the {} is not finite: a record or a model was out of range. Look for huge values in the data.", name);
  return matrix;
}

/// Diagonal of S with S M S of diagonal 1; of the identity if M has noise, which is the same on all entries.
VectorXd units_of(const MatrixXd& matrix, double noise) {
  VectorXd units = VectorXd::Ones(matrix.rows());
  if (noise > 0) return units;
  for (Index j = 0; j < units.size(); ++j) {
    if (matrix(j, j) > 0) units[j] = 1 / std::sqrt(matrix(j, j));
  }
  return units;
}

/// A symmetric matrix with its eigenvalues raised to a floor.
struct Floored {
  VectorXd units;
  VectorXd values;   ///< of S M S, ascending, as they were
  MatrixXd vectors;  ///< of S M S
  double floor;
  Floored(const MatrixXd& matrix, double noise)
      : units(units_of(matrix, noise)),
        floor(noise > 0 ? 2 * noise * std::sqrt(static_cast<double>(matrix.rows())) : least_relative) {
    dense::SymmetricEigen eigen = dense::symmetric_eigen(units.asDiagonal() * matrix * units.asDiagonal());
    values = std::move(eigen.values);
    vectors = std::move(eigen.vectors);
  }
  [[nodiscard]] MatrixXd matrix() const {
    return dense::from_eigen(units.cwiseInverse(), vectors, values.cwiseMax(floor));
  }
  [[nodiscard]] MatrixXd inverse() const {
    return dense::from_eigen(units, vectors, values.cwiseMax(floor).cwiseInverse());
  }
  [[nodiscard]] std::vector<Vector> hidden() const {
    std::vector<Vector> result;
    for (Index k = 0; k < values.size() && values[k] < floor; ++k) {
      const VectorXd direction = units.cwiseProduct(vectors.col(k)).normalized();
      result.emplace_back(direction.begin(), direction.end());
    }
    return result;
  }
  [[nodiscard]] std::vector<std::size_t> undetermined() const {
    std::vector<std::size_t> result;
    for (Index j = 0; j < values.size(); ++j) {
      double weight = 0;
      for (Index k = 0; k < values.size() && values[k] < floor; ++k) weight += vectors(j, k) * vectors(j, k);
      if (weight >= weight_that_counts) result.push_back(static_cast<std::size_t>(j));
    }
    return result;
  }
};

}  // namespace

Vector newton_step(const ReleasedMatrix& curvature, View direction) {
  const auto order = static_cast<Index>(direction.size());
  const Floored bread(checked_matrix(curvature.triangle, order, "curvature"), curvature.noise);
  const VectorXd step = bread.inverse() * Eigen::Map<const VectorXd>(direction.data(), order);
  return {step.begin(), step.end()};
}

PlugIn plug_in(View estimate, const ReleasedMatrix& curvature, const ReleasedMatrix& influence, std::int64_t steps) {
  check(steps > 0, "plug-in intervals after {} steps: there is no estimate yet. Take steps first.", steps);
  const auto order = static_cast<Index>(estimate.size());
  const Floored bread(checked_matrix(curvature.triangle, order, "curvature"), curvature.noise);
  const Floored meat(checked_matrix(influence.triangle, order, "influence"), influence.noise);
  const MatrixXd inverse = bread.inverse();
  const MatrixXd covariance = dense::product(dense::product(inverse, meat.matrix()), inverse);
  PlugIn result;
  result.spread.estimate.assign(estimate.begin(), estimate.end());
  for (Index j = 0; j < order; ++j) {
    result.spread.spread.push_back(std::sqrt(std::max(0.0, covariance(j, j)) / static_cast<double>(steps)));
    for (Index k = j; k < order; ++k) result.covariance.push_back(covariance(j, k) / static_cast<double>(steps));
  }
  result.undetermined = bread.undetermined();
  result.hidden = bread.hidden();
  for (const std::size_t j : result.undetermined) result.spread.spread[j] = std::numeric_limits<double>::infinity();
  result.least_curvature = bread.values[0];
  result.curvature_floor = bread.floor;
  return result;
}

}  // namespace starling
