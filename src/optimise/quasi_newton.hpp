/// The parts of quasi-Newton steps within a domain. Internal to the optimise module.
#pragma once

#include <deque>
#include <vector>

#include "core/columns.hpp"
#include "mirror/mirror.hpp"

namespace starling {

/// The inverse Hessian H of a function, estimated from its gradients along a path (L-BFGS: Nocedal 1980).
class CurvatureMemory {
 public:
  /// −H slope; −slope / curvature while the memory is empty.
  [[nodiscard]] Vector direction(View slope, double curvature) const;
  /// Adds a move and the change of the gradient over it; ignores pairs that are not convex.
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

/// The face of the domain on which a gradient step from a point stays: coordinates at their bounds are held, a simplex
/// keeps its sum, and on the rim of a ball no step leads outwards.
class Face {
 public:
  /// The face of the point x with this gradient.
  Face(Domain& domain, View x, View gradient);
  /// Component of a gradient or step along the face.
  [[nodiscard]] Vector along(View vector) const;
  /// Whether steps along the face have to be projected back onto it.
  [[nodiscard]] bool curved() const { return !normal_.empty(); }
  /// Whether both faces hold the same coordinates and are both curved or both flat.
  [[nodiscard]] bool same(const Face& other) const { return held_ == other.held_ && curved() == other.curved(); }

 private:
  std::vector<bool> held_;
  bool fixed_sum_;
  Vector normal_;  ///< normal of a ball's rim; empty elsewhere
};

}  // namespace starling
