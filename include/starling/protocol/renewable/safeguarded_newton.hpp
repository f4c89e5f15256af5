/// Minimisation of a convex objective whose curvature is local knowledge only (method 3, "(16) is not an MM step").
#pragma once

#include "starling/protocol/renewable/block_curvature.hpp"

namespace starling {

/// What is known of the objective at a point.
struct Expansion {
  double value = 0;
  Vector gradient;
  BlockCurvature curvature;  ///< local: no bound on it elsewhere
};

/// Steps −A⁻¹ ∇F with A = (1 − τ) H + τ M between the local curvature H and a majoriser M ≥ ∇²F: a step is kept if F
/// falls, and τ then shrinks; else τ grows up to 1, where the majorisation makes F fall. Whoever owns the data is asked
/// for the objective at `point()`, once for each call of `take`.
class SafeguardedNewton {
 public:
  /// `where` is what messages call the records that the objective is about.
  SafeguardedNewton(Vector start, BlockCurvature majoriser, std::string where);

  /// Where the objective is asked for next.
  [[nodiscard]] const Vector& point() const { return candidate_; }
  /// The best point so far.
  [[nodiscard]] const Vector& best() const { return best_; }
  /// Takes the objective at `point()`. Throws DataError as BlockCurvature::solve does, where even M is singular.
  void take(Expansion at_point);
  /// Whether no step is left that lowers the objective by more than its rounding.
  [[nodiscard]] bool converged() const { return converged_; }
  /// After convergence: whether the local curvature confirms it. Where the objective has no minimum it falls less and
  /// less along some direction, and its curvature vanishes there just as fast: a step of Newton's is then still long.
  [[nodiscard]] bool is_minimum() const;
  /// The objective at `best()`, and how much a step from there promises to gain.
  [[nodiscard]] double value() const { return at_best_.value; }
  [[nodiscard]] double promised_gain() const { return promised_; }

 private:
  [[nodiscard]] bool falls(const Expansion& at_point) const;
  void choose_candidate();
  [[nodiscard]] Vector direction();

  std::string where_;
  Vector best_;
  Vector candidate_;
  BlockCurvature majoriser_;
  Expansion at_best_;
  double tau_ = 1;
  double promised_ = 0;
  bool started_ = false;
  bool converged_ = false;
};

}  // namespace starling
