/// The parts of quasi-Newton steps within a domain. Internal to the record room.
#pragma once

#include <deque>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/mirror/mirror.hpp"

namespace starling {

/// What is known of a function's curvature from its gradients along the way (L-BFGS: Nocedal 1980).
class CurvatureMemory {
 public:
  /// −H slope; along −slope itself, divided by `curvature`, as long as nothing is known.
  [[nodiscard]] Vector direction(View slope, double curvature) const;
  /// The gradient has changed by `change` over `move`; what is not convex is left out.
  void add(Vector move, Vector change);
  void clear() { pairs_.clear(); }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }

 private:
  struct Pair {
    Vector move;
    Vector change;
    double product = 0;
  };
  std::deque<Pair> pairs_;
};

/// The coordinates that a gradient step from a point would change: the others are held by the domain's bounds.
class Face {
 public:
  /// Of the point x with this gradient.
  Face(Domain& domain, View x, View gradient);
  /// The gradient along the face: nothing across bounds, nor across the sum of a simplex.
  [[nodiscard]] Vector reduced(View gradient) const;
  friend bool operator==(const Face&, const Face&) = default;

 private:
  std::vector<bool> held_;
  bool fixed_sum_;
};

}  // namespace starling
