/// Cutting planes of a convex function: a model of the function from below, for functions with kinks. Internal to the
/// optimise module.
#pragma once

#include <vector>

#include "core/columns.hpp"
#include "mirror/mirror.hpp"

namespace starling {

/// Relative difference that counts as rounding.
inline constexpr double rounding = 1e-13;

/// A bounded number of planes f(y) + ⟨g, x − y⟩ ≤ f(x). Planes without a share in the last proposal are removed first,
/// and the combination of all planes stays as one plane. Call add() after each evaluation, then propose().
class Bundle {
 public:
  explicit Bundle(Domain& domain) : domain_(domain) {}

  void add(View y, double value, View gradient);

  struct Proposal {
    Vector x;              ///< point of the domain near argmin of the planes' maximum + (weight/2)‖x − centre‖²
    double planes = 0;     ///< maximum of the planes at x
    double minimum = 0;    ///< lower bound of f on the domain
    double at_centre = 0;  ///< value at the centre of the combination of planes behind the proposal
    double slope = 0;      ///< norm of that combination's slope
  };
  /// One proximal step (Kiwiel 1990). Projections onto the domain yield half-spaces, which represent the domain.
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
