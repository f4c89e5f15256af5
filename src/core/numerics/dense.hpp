/// Products and decompositions of dense matrices, by Eigen. They are compiled once: no other code takes a compiler as
/// long.
///
/// A matrix called symmetric must hold both of its triangles.
#pragma once

#include <cstddef>
#include <optional>

#include <Eigen/Core>

#include "core/columns.hpp"

namespace starling::dense {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The symmetric matrix of a packed upper triangle, row by row.
[[nodiscard]] MatrixXd symmetric(View triangle, std::size_t order);
[[nodiscard]] MatrixXd product(const MatrixXd& a, const MatrixXd& b);
[[nodiscard]] MatrixXd inverse(const MatrixXd& matrix);
/// x with `matrix` x = `right`; none where the reciprocal condition of the matrix is no more than `least`.
[[nodiscard]] std::optional<VectorXd> solve(const MatrixXd& matrix, const VectorXd& right, double least);

/// Eigenvalues of a symmetric matrix, ascending, and a column of norm one for each.
struct SymmetricEigen {
  VectorXd values;
  MatrixXd vectors;
  bool found = false;  ///< whether the iterations converged
};
[[nodiscard]] SymmetricEigen symmetric_eigen(const MatrixXd& matrix);
[[nodiscard]] VectorXd symmetric_eigenvalues(const MatrixXd& matrix);
/// v with a v = λ b v, for a positive definite b; scaled such that vᵀ b v = 1.
[[nodiscard]] SymmetricEigen symmetric_eigen(const MatrixXd& a, const MatrixXd& b);

/// D V E Vᵀ D of the columns V and the diagonals D (`units`) and E (`values`).
[[nodiscard]] MatrixXd from_eigen(const VectorXd& units, const MatrixXd& vectors, const VectorXd& values);

/// The matrix is left · values · rightᵀ, with singular values ≥ 0 in descending order, as many as its shorter side has
/// entries.
struct Singular {
  MatrixXd left;
  VectorXd values;
  MatrixXd right;
};
[[nodiscard]] Singular singular(const MatrixXd& matrix);

/// Eigenvalues of any matrix; none where the iterations do not converge.
[[nodiscard]] std::optional<Eigen::VectorXcd> eigenvalues(const MatrixXd& matrix);
struct Eigenvectors {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;  ///< a column for each
};
[[nodiscard]] std::optional<Eigenvectors> eigenvectors(const MatrixXd& matrix);

/// Cholesky factor of S M S with diagonal 1, so that the units of the coordinates do not matter, for a symmetric M.
class CholeskyFactor {
 public:
  explicit CholeskyFactor(const MatrixXd& matrix);
  /// Whether M is finite and positive definite, and S M S has a reciprocal condition above 1e-15. Otherwise there is
  /// nothing to solve with.
  [[nodiscard]] bool sound() const { return sound_; }
  /// S x S.
  [[nodiscard]] MatrixXd scaled(const MatrixXd& x) const;
  /// M⁻¹ x.
  [[nodiscard]] MatrixXd solve(const MatrixXd& x) const;

 private:
  VectorXd scale_;
  MatrixXd factor_;  ///< its upper triangle
  bool sound_ = false;
};

/// xᵀ M⁻¹ x for a symmetric M; none where M is singular: S M S has a reciprocal condition of 1e-14 or less.
[[nodiscard]] std::optional<double> inverse_form(const MatrixXd& matrix, const VectorXd& x);

}  // namespace starling::dense
