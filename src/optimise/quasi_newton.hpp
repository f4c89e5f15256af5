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

/// Where a gradient step from a point would lead within the domain: coordinates at their bounds are held, a simplex
/// keeps its sum, and on the rim of a ball there is no way out.
class Face {
 public:
  /// Of the point x with this gradient.
  Face(Domain& domain, View x, View gradient);
  /// A gradient's, or a step's, part along the face.
  [[nodiscard]] Vector along(View vector) const;
  /// Whether steps along it have to be bent back onto it.
  [[nodiscard]] bool curved() const { return !normal_.empty(); }
  /// Whether both hold the same coordinates, or are both the rim.
  [[nodiscard]] bool same(const Face& other) const { return held_ == other.held_ && curved() == other.curved(); }

 private:
  std::vector<bool> held_;
  bool fixed_sum_;
  Vector normal_;  ///< of the rim; empty elsewhere
};

}  // namespace starling
