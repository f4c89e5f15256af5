/// Coefficients in other coordinates.
#pragma once

#include "core/columns.hpp"

namespace starling {

/// The map θ ↦ Lθ + c of d coefficients to as many.
class AffineMap {
 public:
  /// Column j of `rows` is row j of L, d × d; `offset` is c.
  AffineMap(Columns rows, Vector offset) : rows_(std::move(rows)), offset_(std::move(offset)) {}
  /// Writes Lθ + c into `image`, which may be no part of `theta`. O(d²).
  void apply(View theta, MutableView image) const;
  /// Lθ.
  [[nodiscard]] Vector linear(View theta) const;
  /// |L|σ, where |L| has the absolute values of L: bounds of the standard deviations of Lz, for any z whose entries
  /// have the deviations σ.
  [[nodiscard]] Vector deviation_bounds(View deviations) const;
  /// Standard deviations of the image of a vector with this covariance, a packed upper triangle. Infinite where an
  /// entry with an infinite `deviations` has a part in it.
  [[nodiscard]] Vector deviations(View covariance, View deviations) const;

 private:
  Columns rows_;
  Vector offset_;
};

}  // namespace starling
