#include "protocol/curvature/block_curvature.hpp"

#include <cmath>

#include "core/numerics/dense.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

using dense::CholeskyFactor;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd full(View triangle, std::size_t order, double identity = 0) {
  MatrixXd matrix = dense::symmetric(triangle, order);
  matrix.diagonal().array() += identity;
  return matrix;
}

/// The condition of a matrix that could not be factorized, as in "its condition number is 1e+17".
std::string condition_of(const MatrixXd& matrix) {
  if (!matrix.allFinite()) return "it is not finite";
  const VectorXd values = dense::symmetric_eigenvalues(matrix);
  const double least = values[0];
  const double most = values[values.size() - 1];
  if (!(least > 0)) return fmt::format("its eigenvalues go from {:.3g} to {:.3g}", least, most);
  return fmt::format("its condition number is {:.3g}", most / least);
}

/// The first coordinate that depends linearly on the coordinates before it, if there is one.
std::optional<Index> dependent_coordinate(const MatrixXd& matrix, const CholeskyFactor& factor) {
  for (Index j = 0; j < matrix.rows(); ++j) {
    if (!(matrix(j, j) > 0)) return j;
  }
  MatrixXd lower = factor.scaled(matrix);
  for (Index j = 0; j < lower.rows(); ++j) {
    const double pivot = lower(j, j) - lower.row(j).head(j).squaredNorm();
    if (!(pivot > 1e-13)) return j;
    lower(j, j) = std::sqrt(pivot);
    const Index rest = lower.rows() - j - 1;
    if (rest == 0) break;
    lower.col(j).tail(rest) -= lower.block(j + 1, 0, rest, j) * lower.row(j).head(j).transpose();
    lower.col(j).tail(rest) /= lower(j, j);
  }
  return std::nullopt;
}

/// The feature that never varies, where it is what makes the intercept, the last coordinate, depend on others.
std::optional<Index> constant_feature(const MatrixXd& matrix) {
  const Index features = matrix.rows() - 1;
  for (Index j = 0; j < features; ++j) {
    const double square = matrix(j, j) * matrix(features, features);
    if (square - matrix(j, features) * matrix(j, features) <= 1e-12 * square) return j;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const MatrixXd& matrix, const CholeskyFactor& factor, const std::string& where) {
  const std::string before = fmt::format("{}: the curvature is not positive definite: ", where);
  const std::string after = fmt::format(
      ". Leave columns out that never vary or repeat others (--drop), add a penalty with --l2, or take larger "
      "batches: a --batch of several times the {} coefficients.",
      matrix.rows());
  if (!matrix.allFinite()) throw DataError(before + "it is not finite" + after);
  const std::string_view cause =
      "constant, or a combination of others, in the records so far, or the loss is flat there";
  const std::string condition = condition_of(matrix) + "; ";
  std::optional<Index> coordinate = dependent_coordinate(matrix, factor);
  if (coordinate == matrix.rows() - 1) coordinate = constant_feature(matrix).value_or(*coordinate);
  if (!coordinate) {
    fail<DataError>("{}{}features that nearly depend on each other are {}{}", before, condition, cause, after);
  }
  if (*coordinate == matrix.rows() - 1) {
    fail<DataError>("{}{}the intercept is {}{}", before, condition, cause, after);
  }
  throw UndeterminedFeature(before + condition, static_cast<std::size_t>(*coordinate),
                            fmt::format(" is {}{}", cause, after));
}

CholeskyFactor factor_of(const MatrixXd& matrix, const std::string& where) {
  CholeskyFactor factor(matrix);
  if (!factor.sound()) refuse(matrix, factor, where);
  return factor;
}

MatrixXd inverse_of(const MatrixXd& matrix, const std::string& where) {
  return factor_of(matrix, where).solve(MatrixXd::Identity(matrix.rows(), matrix.rows()));
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

View BlockCurvature::block(std::size_t k) const {
  const std::size_t size = triangle_size(order_);
  return View(triangles_).subspan(k * size, size);
}

Vector BlockCurvature::times(View x) const {
  Vector result(x.begin(), x.end());
  starling::scale(identity_, result);
  if (triangles_.empty()) return result;
  for (std::size_t k = 0; k < blocks_; ++k) {
    const auto size = static_cast<Index>(order_);
    const Eigen::Map<const VectorXd> part(x.data() + k * order_, size);
    Eigen::Map<VectorXd>(result.data() + k * order_, size) += full(block(k), order_) * part;
  }
  return result;
}

Vector BlockCurvature::solve(View x, const std::string& where) const {
  if (const auto result = try_solve(x)) return *result;
  check<DataError>(!triangles_.empty(),
                   "{}: the curvature is zero: no record has contributed yet. Add a penalty with --l2.", where);
  for (std::size_t k = 0; k < blocks_; ++k) factor_of(full(block(k), order_, identity_), where);
  throw DataError(fmt::format("{}: the curvature cannot be inverted.", where));
}

std::optional<Vector> BlockCurvature::try_solve(View x) const {
  Vector result(x.begin(), x.end());
  if (triangles_.empty()) {
    if (!(identity_ > 0)) return std::nullopt;
    for (double& entry : result) entry /= identity_;
    return result;
  }
  for (std::size_t k = 0; k < blocks_; ++k) {
    const CholeskyFactor factor(full(block(k), order_, identity_));
    if (!factor.sound()) return std::nullopt;
    Eigen::Map<VectorXd> part(result.data() + k * order_, static_cast<Index>(order_));
    part = VectorXd(factor.solve(part));
  }
  return result;
}

Vector BlockCurvature::solve_clipped(View x) const {
  if (triangles_.empty()) return solve(x, "");
  Vector result(x.begin(), x.end());
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    const dense::SymmetricEigen eigen = dense::symmetric_eigen(full(View(triangles_).subspan(k * size, size), order_));
    const VectorXd values = eigen.values.cwiseMax(0.0).array() + identity_;
    Eigen::Map<VectorXd> part(result.data() + k * order_, static_cast<Index>(order_));
    const VectorXd turned = eigen.vectors.transpose() * part;
    part = eigen.vectors * turned.cwiseQuotient(values);
  }
  return result;
}

Vector BlockCurvature::inverse_diagonal(const std::string& where) const {
  Vector diagonal;
  for (std::size_t k = 0; k < blocks_; ++k) {
    const MatrixXd inverse = inverse_of(full(block(k), order_, identity_), where);
    for (Index i = 0; i < inverse.rows(); ++i) diagonal.push_back(inverse(i, i));
  }
  return diagonal;
}

Vector BlockCurvature::inverse_triangle(const std::string& where) const {
  const MatrixXd inverse = inverse_of(full(block(0), order_, identity_), where);
  Vector triangle;
  for (Index i = 0; i < inverse.rows(); ++i) {
    for (Index j = i; j < inverse.rows(); ++j) triangle.push_back(inverse(i, j));
  }
  return triangle;
}

Vector BlockCurvature::product_diagonal(View matrices, const std::string& where) const {
  Vector diagonal;
  const auto size = static_cast<Index>(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    const MatrixXd inverse = inverse_of(full(block(k), order_, identity_), where);
    const Eigen::Map<const MatrixXd> turned(matrices.data() + k * order_ * order_, size, size);  // by columns: Mᵀ
    for (Index i = 0; i < size; ++i) diagonal.push_back(inverse.row(i).dot(turned.row(i)));
  }
  return diagonal;
}

Vector BlockCurvature::sandwich_diagonal(View meat, const std::string& where) const {
  Vector diagonal;
  const std::size_t size = triangle_size(order_);
  for (std::size_t k = 0; k < blocks_; ++k) {
    const CholeskyFactor factor = factor_of(full(block(k), order_, identity_), where);
    const MatrixXd half = factor.solve(full(meat.subspan(k * size, size), order_));
    const MatrixXd whole = factor.solve(half.transpose());
    for (Index i = 0; i < whole.rows(); ++i) diagonal.push_back(whole(i, i));
  }
  return diagonal;
}

}  // namespace starling
