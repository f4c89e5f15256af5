#include "starling/protocol/block_curvature.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <Eigen/Eigenvalues>

#include "starling/core/check.hpp"
#include "starling/core/gram.hpp"
#include "starling/core/kernels.hpp"

namespace starling {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Factor = Eigen::LLT<MatrixXd, Eigen::Upper>;

Eigen::Map<const VectorXd> mapped(View x) {
  return {x.data(), static_cast<Index>(x.size())};
}

MatrixXd full(View triangle, std::size_t order) {
  MatrixXd matrix(order, order);
  std::size_t at = 0;
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = i; j < order; ++j, ++at) {
      matrix(static_cast<Index>(i), static_cast<Index>(j)) = triangle[at];
      matrix(static_cast<Index>(j), static_cast<Index>(i)) = triangle[at];
    }
  }
  return matrix;
}

/// "condition number 1e+17": of what could not be factorized.
std::string condition_of(const MatrixXd& matrix) {
  if (!matrix.allFinite()) return "it is not finite";
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
  const double least = values[0];
  const double most = values[values.size() - 1];
  if (!(least > 0)) return fmt::format("its eigenvalues go from {:.3g} to {:.3g}", least, most);
  return fmt::format("its condition number is {:.3g}", most / least);
}

/// The first coordinate that adds nothing to those before it.
Index dependent_coordinate(const MatrixXd& matrix) {
  for (Index size = 1; size <= matrix.rows(); ++size) {
    if (Factor(matrix.topLeftCorner(size, size)).info() != Eigen::Success) return size - 1;
  }
  return matrix.rows() - 1;
}

Factor factor_of(const MatrixXd& matrix, const std::string& where) {
  Factor factor(matrix);
  // A tiny pivot is as bad as a negative one: what it divides has no digits left.
  const bool sound = matrix.allFinite() && factor.info() == Eigen::Success && factor.rcond() > 1e-15;
  if (sound) return factor;
  const Index coordinate = matrix.allFinite() ? dependent_coordinate(matrix) : 0;
  const std::string name =
      coordinate == matrix.rows() - 1 ? std::string("the intercept") : fmt::format("feature {}", coordinate);
  throw DataError(fmt::format(
      "{}: the curvature is not positive definite ({}; from feature 0 on, {} is the first that is constant, "
      "or a combination of those before it, in the records so far, or the loss is flat there) add a penalty "
      "with --l2, or take larger batches",
      where, condition_of(matrix), name));
}

}  // namespace

void BlockCurvature::scale(double factor) {
  identity_ *= factor;
  starling::scale(factor, triangles_);
}

void BlockCurvature::add_slopes(double factor) {
  const std::size_t size = triangle_size(order_);
  triangles_.resize(blocks_ * size);
  for (std::size_t k = 0; k < blocks_; ++k) {
    for (std::size_t i = 0; i + 1 < order_; ++i) triangles_[k * size + triangle_at(i, i, order_)] += factor;
  }
}

void BlockCurvature::add(View triangles, double factor) {
  triangles_.resize(blocks_ * triangle_size(order_));
  axpy(factor, triangles, triangles_);
}

void BlockCurvature::add(const BlockCurvature& other, double factor) {
  identity_ += factor * other.identity_;
  if (!other.triangles_.empty()) add(other.triangles_, factor);
}

Vector BlockCurvature::solve(View x, const std::string& where) const {
  Vector result(x.begin(), x.end());
  if (triangles_.empty()) {
    check<DataError>(identity_ > 0, "{}: the curvature is zero (nothing was learned of it yet) add a penalty with --l2",
                     where);
    for (double& entry : result) entry /= identity_;
    return result;
  }
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    MatrixXd matrix = full(View(triangles_).subspan(k * size, size), order_);
    matrix.diagonal().array() += identity_;
    Eigen::Map<VectorXd> part(result.data() + k * order_, static_cast<Index>(order_));
    part = factor_of(matrix, where).solve(VectorXd(part));
  }
  return result;
}

Vector BlockCurvature::solve_clipped(View x) const {
  if (triangles_.empty()) return solve(x, "");
  Vector result(x.begin(), x.end());
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(full(View(triangles_).subspan(k * size, size), order_));
    const VectorXd values = eigen.eigenvalues().cwiseMax(0.0).array() + identity_;
    Eigen::Map<VectorXd> part(result.data() + k * order_, static_cast<Index>(order_));
    const VectorXd turned = eigen.eigenvectors().transpose() * part;
    part = eigen.eigenvectors() * turned.cwiseQuotient(values);
  }
  return result;
}

Vector BlockCurvature::times(View x) const {
  Vector result(x.begin(), x.end());
  starling::scale(identity_, result);
  if (triangles_.empty()) return result;
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    const VectorXd part =
        full(View(triangles_).subspan(k * size, size), order_) * mapped(x.subspan(k * order_, order_));
    for (std::size_t i = 0; i < order_; ++i) result[k * order_ + i] += part[static_cast<Index>(i)];
  }
  return result;
}

Vector BlockCurvature::inverse_diagonal(const std::string& where) const {
  Vector diagonal;
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    MatrixXd matrix = full(View(triangles_).subspan(k * size, size), order_);
    matrix.diagonal().array() += identity_;
    const MatrixXd inverse =
        factor_of(matrix, where).solve(MatrixXd::Identity(static_cast<Index>(order_), static_cast<Index>(order_)));
    for (Index i = 0; i < inverse.rows(); ++i) diagonal.push_back(inverse(i, i));
  }
  return diagonal;
}

Vector BlockCurvature::sandwich_diagonal(View meat, const std::string& where) const {
  Vector diagonal;
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    MatrixXd matrix = full(View(triangles_).subspan(k * size, size), order_);
    matrix.diagonal().array() += identity_;
    const Factor factor = factor_of(matrix, where);
    const MatrixXd half = factor.solve(full(meat.subspan(k * size, size), order_));
    const MatrixXd whole = factor.solve(half.transpose());
    for (Index i = 0; i < whole.rows(); ++i) diagonal.push_back(whole(i, i));
  }
  return diagonal;
}

}  // namespace starling
