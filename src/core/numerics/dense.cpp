#include "core/numerics/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace starling::dense {

MatrixXd symmetric(View triangle, std::size_t order) {
  const auto n = static_cast<Eigen::Index>(order);
  MatrixXd matrix(n, n);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i; j < n; ++j) matrix(i, j) = matrix(j, i) = triangle[at++];
  }
  return matrix;
}

MatrixXd product(const MatrixXd& a, const MatrixXd& b) {
  return a * b;
}

MatrixXd inverse(const MatrixXd& matrix) {
  return matrix.inverse();
}

std::optional<VectorXd> solve(const MatrixXd& matrix, const VectorXd& right, double least) {
  const Eigen::PartialPivLU<MatrixXd> solver(matrix);
  if (!(solver.rcond() > least)) return std::nullopt;
  return solver.solve(right);
}

SymmetricEigen symmetric_eigen(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

VectorXd symmetric_eigenvalues(const MatrixXd& matrix) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

SymmetricEigen symmetric_eigen(const MatrixXd& a, const MatrixXd& b) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(a, b);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

MatrixXd from_eigen(const VectorXd& units, const MatrixXd& vectors, const VectorXd& values) {
  return units.asDiagonal() * vectors * values.asDiagonal() * vectors.transpose() * units.asDiagonal();
}

Singular singular(const MatrixXd& matrix) {
  const Eigen::JacobiSVD<MatrixXd> parts(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {parts.matrixU(), parts.singularValues(), parts.matrixV()};
}

std::optional<Eigen::VectorXcd> eigenvalues(const MatrixXd& matrix) {
  const Eigen::EigenSolver<MatrixXd> solver(matrix, false);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return solver.eigenvalues();
}

std::optional<Eigenvectors> eigenvectors(const MatrixXd& matrix) {
  const Eigen::EigenSolver<MatrixXd> solver(matrix);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return Eigenvectors{solver.eigenvalues(), solver.eigenvectors()};
}

CholeskyFactor::CholeskyFactor(const MatrixXd& matrix) : scale_(matrix.diagonal().cwiseSqrt().cwiseInverse()) {
  if (!matrix.allFinite() || !scale_.allFinite()) return;
  const Eigen::LLT<MatrixXd, Eigen::Upper> factor(scaled(matrix));
  // A tiny pivot is as bad as a negative one: quotients by it have no digits left.
  sound_ = factor.info() == Eigen::Success && factor.rcond() > 1e-15;
  factor_ = factor.matrixLLT();
}

MatrixXd CholeskyFactor::scaled(const MatrixXd& x) const {
  return scale_.asDiagonal() * x * scale_.asDiagonal();
}

MatrixXd CholeskyFactor::solve(const MatrixXd& x) const {
  const auto upper = factor_.triangularView<Eigen::Upper>();
  MatrixXd solution = scale_.asDiagonal() * x;
  upper.adjoint().solveInPlace(solution);
  upper.solveInPlace(solution);
  return scale_.asDiagonal() * solution;
}

std::optional<double> inverse_form(const MatrixXd& matrix, const VectorXd& x) {
  const VectorXd scale = matrix.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return std::nullopt;
  const Eigen::LLT<MatrixXd> factor(scale.asDiagonal() * matrix * scale.asDiagonal());
  if (factor.info() != Eigen::Success || !(factor.rcond() > 1e-14)) return std::nullopt;
  const VectorXd scaled = scale.asDiagonal() * x;
  return scaled.dot(factor.solve(scaled));
}

}  // namespace starling::dense
