/// Minimisation of a convex objective by safeguarded Newton steps (docs/methods/renewable.md, "Corrections").
#pragma once

#include "protocol/curvature/block_curvature.hpp"

namespace starling {

/// Value, gradient and curvature of the objective at a point.
struct Expansion {
  double value = 0;
  Vector gradient;
  BlockCurvature curvature;  ///< local: bounds nothing elsewhere
};

/// A search by steps −A⁻¹ ∇F, A = (1 − τ) H + τ M, between the local curvature H and a majoriser M ≥ ∇²F. A step is
/// kept if F falls, and τ shrinks then. Else τ grows up to 1, where F must fall. Until converged(): evaluate the
/// objective at point(), and pass it to take().
class SafeguardedNewton {
 public:
  /// `where` names the records of the objective in messages.
  SafeguardedNewton(Vector start, BlockCurvature majoriser, std::string where);

  /// The point at which the objective is needed next.
  [[nodiscard]] const Vector& point() const { return candidate_; }
  /// The best point so far.
  [[nodiscard]] const Vector& best() const { return best_; }
  /// Takes the objective at point(). Throws DataError if even M is singular.
  void take(Expansion at_point);
  /// Whether no step lowers the objective by more than its rounding.
  [[nodiscard]] bool converged() const { return converged_; }
  /// After convergence: whether the local curvature confirms a minimum. If there is none, the gradient and the
  /// curvature vanish along some direction just as fast, and a Newton step is still long.
  [[nodiscard]] bool is_minimum() const;
  /// After convergence: whether best() is on its way to infinity, where the objective comes to an infimum that it never
  /// has. A Newton step is still long there, or the sum of positive losses has vanished in rounding.
  [[nodiscard]] bool runs_away() const;
  /// The objective at best().
  [[nodiscard]] double value() const { return at_best_.value; }

 private:
  [[nodiscard]] bool falls(const Expansion& at_point) const;
  [[nodiscard]] bool is_short(View step) const;
  void choose_candidate();
  [[nodiscard]] Vector direction();

  std::string where_;
  Vector best_;
  Vector candidate_;
  BlockCurvature majoriser_;
  Expansion at_best_;
  double tau_ = 1;
  bool started_ = false;
  bool converged_ = false;
};

}  // namespace starling
