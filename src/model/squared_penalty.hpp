/// The penalty of `--l2`, of which the constants of a linear model are free.
#pragma once

#include <cstddef>

#include "core/columns.hpp"

namespace starling {

/// (λ/2) Σ x_j² over all coordinates but constants.
struct SquaredPenalty {
  double lambda = 0;
  /// Parameters come in runs of so many, each with its constant at the end; 0: there is no constant.
  std::size_t run = 0;

  /// a times the penalty at x.
  [[nodiscard]] double value(View x, double a = 1) const;
  /// gradient += a times the penalty's gradient at x.
  void add_gradient(double a, View x, MutableView gradient) const;
  /// x −= a times the penalty's gradient at x.
  void shrink(double a, MutableView x) const;
  /// The modulus of strong convexity: 0 where a coordinate is free.
  [[nodiscard]] double strong_convexity() const { return run == 0 ? lambda : 0; }
};

}  // namespace starling
