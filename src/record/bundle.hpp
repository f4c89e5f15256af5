/// Cutting planes of a convex function: a model of it from below, where kinks leave single gradients without meaning.
/// Internal to the record room.
#pragma once

#include <vector>

#include "starling/core/columns.hpp"
#include "starling/mirror/mirror.hpp"

namespace starling {

/// Keeps planes f(y) + ⟨g, x − y⟩ ≤ f(x). Their number is bounded: planes without a share in the last proposal go
/// first, and what they and their kin amounted to stays as one plane.
class Bundle {
 public:
  explicit Bundle(Domain& domain) : domain_(domain) {}

  void add(View y, double value, View gradient);

  struct Proposal {
    Vector x;            ///< argmin over the domain of the planes' maximum + (weight/2)‖x − centre‖²
    double planes = 0;   ///< their maximum at x
    double minimum = 0;  ///< a bound: no point of the domain has a lower value
  };
  /// One proximal step (Kiwiel 1990); its dual, over the shares of the planes, is solved by `minimise`.
  [[nodiscard]] Proposal propose(View centre, double weight);

 private:
  struct Plane {
    double offset = 0;  ///< f(y) − ⟨g, y⟩
    Vector slope;       ///< g
  };
  [[nodiscard]] Vector shares(View centre, double weight);
  [[nodiscard]] Plane combined(View shares) const;
  [[nodiscard]] Vector nearest(const Plane& plane, View centre, double weight);
  [[nodiscard]] double at(const Plane& plane, View x) const;
  void thin_out(const Vector& shares, const Plane& combination);

  Domain& domain_;
  std::vector<Plane> planes_;
};

}  // namespace starling
