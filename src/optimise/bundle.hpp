/// Cutting planes of a convex function: a model of it from below, where kinks leave single gradients without meaning.
/// Internal to the record room.
#pragma once

#include <vector>

#include "starling/core/columns.hpp"
#include "starling/mirror/mirror.hpp"

namespace starling {

/// Relative differences below this are rounding.
inline constexpr double rounding = 1e-13;

/// Keeps planes f(y) + ⟨g, x − y⟩ ≤ f(x). Their number is bounded: planes without a share in the last proposal go
/// first, and what they and their kin amounted to stays as one plane.
class Bundle {
 public:
  explicit Bundle(Domain& domain) : domain_(domain) {}

  void add(View y, double value, View gradient);

  struct Proposal {
    Vector x;  ///< about argmin over the domain of the planes' maximum + (weight/2)‖x − centre‖², and in it
    double planes = 0;     ///< their maximum at x
    double minimum = 0;    ///< a bound: no point of the domain has a lower value
    double at_centre = 0;  ///< of the planes' combination that the proposal rests on, at the centre
    double slope = 0;      ///< norm of its slope
  };
  /// One proximal step (Kiwiel 1990). The domain enters it by the half-spaces that its projections show.
  [[nodiscard]] Proposal propose(View centre, double weight);

 private:
  struct Plane {
    double offset = 0;  ///< f(y) − ⟨g, y⟩
    Vector slope;       ///< g
  };
  [[nodiscard]] Vector step(View centre, double weight);
  [[nodiscard]] Plane combined(View shares) const;
  [[nodiscard]] double at(const Plane& plane, View x) const;
  void thin_out(const Plane& combination);

  Domain& domain_;
  std::vector<Plane> planes_;
  std::vector<Plane> borders_;  ///< at(border, x) ≤ 0 in the domain
  Vector shares_;               ///< of the planes, then of the borders, in the last step
};

/// argmin over λ ≥ 0 with Σ_{i < planes} λ_i = 1 of ½‖Σ λ_i v_i‖² − Σ λ_i e_i, by an active-set method on the Gram
/// matrix; `planes` ≥ 1. For some dozens of vectors.
[[nodiscard]] Vector solve_shares(const std::vector<View>& vectors, View heights, std::size_t planes);

}  // namespace starling
