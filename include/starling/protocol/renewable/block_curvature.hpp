/// The matrix J of second-order methods: one symmetric block for each class.
#pragma once

#include <optional>
#include <string>

#include "starling/core/columns.hpp"
#include "starling/core/snapshot.hpp"

namespace starling {

/// K symmetric matrices of one order, each a multiple of the identity (the same for all) plus a packed upper triangle.
/// As long as nothing but multiples of the identity were added there are no triangles, and solving is a division.
class BlockCurvature {
 public:
  BlockCurvature(std::size_t blocks, std::size_t order) : blocks_(blocks), order_(order) {}

  void scale(double factor);
  void add_identity(double factor) { identity_ += factor; }
  /// Adds `factor` to the diagonal but for each block's last entry, the intercept's (λW of method 3).
  void add_slopes(double factor);
  /// K packed triangles, one after the other, times `factor`.
  void add(View triangles, double factor = 1);

  /// Another of the same shape, times `factor`.
  void add(const BlockCurvature& other, double factor);

  /// J⁻¹ x by Cholesky's factorization. Throws DataError, naming `where`, the condition number and the coordinate that
  /// is none or a combination of others, unless J is positive definite.
  [[nodiscard]] Vector solve(View x, const std::string& where) const;
  /// The same; nothing where J is not positive definite.
  [[nodiscard]] std::optional<Vector> try_solve(View x) const;
  /// The same where noise may have made the triangles indefinite: their negative eigenvalues count as 0. Needs a
  /// positive multiple of the identity.
  [[nodiscard]] Vector solve_clipped(View x) const;
  /// J x.
  [[nodiscard]] Vector times(View x) const;
  /// Diagonal of J⁻¹, and of J⁻¹ V J⁻¹ for packed triangles V. Throws as `solve`.
  [[nodiscard]] Vector inverse_diagonal(const std::string& where) const;
  [[nodiscard]] Vector sandwich_diagonal(View meat, const std::string& where) const;

  void persist(Snapshot& snapshot) { snapshot(identity_, triangles_); }

 private:
  /// The k-th triangle; there must be triangles.
  [[nodiscard]] View block(std::size_t k) const;

  std::size_t blocks_;
  std::size_t order_;
  double identity_ = 0;
  Vector triangles_;  ///< empty as long as there are none
};

}  // namespace starling
