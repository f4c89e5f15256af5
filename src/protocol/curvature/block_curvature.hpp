/// The matrix J of second-order methods: one symmetric block per class.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "core/columns.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// A curvature that does not determine the coefficient of a feature, which the message gives by its number.
class UndeterminedFeature : public DataError {
 public:
  /// The message is `before`, "feature 3" and `after`.
  UndeterminedFeature(std::string before, std::size_t feature, std::string after)
      : DataError(fmt::format("{}feature {}{}", before, feature, after)),
        before_(std::move(before)),
        feature_(feature),
        after_(std::move(after)) {}

  /// The same error by the feature's name; itself where `names` is empty.
  [[nodiscard]] DataError named(const std::vector<std::string>& names) const {
    if (names.empty()) return *this;
    return DataError(fmt::format("{}feature '{}'{}", before_, names.at(feature_), after_));
  }

 private:
  std::string before_;
  std::size_t feature_;
  std::string after_;
};

/// K symmetric matrices of one order. Each is the same multiple of the identity plus a packed upper triangle. While
/// only multiples of the identity have been added there are no triangles, and solving is a division.
class BlockCurvature {
 public:
  BlockCurvature(std::size_t blocks, std::size_t order) : blocks_(blocks), order_(order) {}

  void scale(double factor);
  void add_identity(double factor) { identity_ += factor; }
  /// Adds `factor` times W: to the diagonal except for each block's last entry, the intercept's.
  void add_slopes(double factor);
  /// Adds K packed triangles, one after the other, times `factor`.
  void add(View triangles, double factor = 1);

  /// Adds another matrix of the same shape, times `factor`.
  void add(const BlockCurvature& other, double factor);

  /// J x.
  [[nodiscard]] Vector times(View x) const;
  /// J⁻¹ x by Cholesky's factorization. Throws DataError unless J is positive definite; the message names `where`, the
  /// condition number, and a coordinate that is zero or a combination of others (of a feature: UndeterminedFeature).
  [[nodiscard]] Vector solve(View x, const std::string& where) const;
  /// J⁻¹ x; no value if J is not positive definite.
  [[nodiscard]] std::optional<Vector> try_solve(View x) const;
  /// J⁻¹ x with negative eigenvalues of the triangles, which noise may have caused, replaced by 0. Needs a positive
  /// multiple of the identity.
  [[nodiscard]] Vector solve_clipped(View x) const;
  /// Diagonal of J⁻¹. Throws as solve() does.
  [[nodiscard]] Vector inverse_diagonal(const std::string& where) const;
  /// Packed upper triangle of J⁻¹ of the first block. Throws as solve() does.
  [[nodiscard]] Vector inverse_triangle(const std::string& where) const;
  /// Diagonal of J⁻¹ V J⁻¹ for packed triangles V = `meat`. Throws as solve() does.
  [[nodiscard]] Vector sandwich_diagonal(View meat, const std::string& where) const;

  /// Diagonal of J⁻¹ M for a square matrix of each block, row after row. Throws as solve() does.
  [[nodiscard]] Vector product_diagonal(View matrices, const std::string& where) const;

  void persist(Snapshot& snapshot) { snapshot(identity_, triangles_); }

 private:
  /// The k-th triangle; there must be triangles.
  [[nodiscard]] View block(std::size_t k) const;

  std::size_t blocks_;
  std::size_t order_;
  double identity_ = 0;
  Vector triangles_;  ///< empty while only multiples of the identity have been added
};

}  // namespace starling
