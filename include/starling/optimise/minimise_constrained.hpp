/// Minimisation of a convex function over a domain under further convex constraints, with the duality gap it is known
/// to: the comparators of constrained learning (method 2, "Reports and numbers").
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "starling/optimise/minimise.hpp"

namespace starling {

/// slope · x ≤ bound.
struct LinearRow {
  Vector slope;
  double bound = 0;
};

/// Of a convex constraint c(x) ≤ 0 at some x: its value and a (sub)gradient there. A linear constraint's cut is itself.
struct Cut {
  double value = 0;
  Vector gradient;
};

/// The constraint that x violates most, or comes nearest to violating; none where there is no constraint at all. If it
/// speaks for many rows (a window of rounds each), only those that ever come out worst are worked with.
using ConstraintOracle = std::function<std::optional<Cut>(View x)>;

struct ConstrainedSettings {
  MinimiseSettings inner;   ///< `gap` and `gradient_norm` are wanted of the result, `evaluations` are all together
  double violation = 1e-8;  ///< most c(x), relative to the gradient's norm where that exceeds 1
  int most_rounds = 200;    ///< minimisations with fixed multipliers
  /// Rows that are there from the start; others come from the oracle.
  std::vector<LinearRow> rows = {};
};

struct ConstrainedMinimum {
  /// `x`, f(x); the certificate is the duality gap f(x) − max over multipliers of a lower bound of the Lagrangian's
  /// minimum, in absolute value, or where the domain bounds nothing the gradient norm of the last Lagrangian.
  Minimum minimum;
  double violation = 0;          ///< max(0, c(x)) of the worst constraint
  double largest_violation = 0;  ///< that would have been within the tolerance
  std::vector<LinearRow> rows;   ///< that were worked with
  Vector multipliers;            ///< theirs, ≥ 0
  /// Whether both the certificate and the violation are within their tolerances.
  [[nodiscard]] bool reached() const { return minimum.ending == Minimum::Ending::reached; }
};

/// Augmented Lagrangian (Rockafellar 1973) on rows that are added as the oracle names them: each minimisation of
/// f + Σ (max(0, λ_i + ρ c_i)² − λ_i²) / 2ρ over the domain bounds the constrained minimum from below, whatever λ ≥ 0.
/// Where no point of the domain satisfies all constraints, the result does not, says so by its violation, and `ending`
/// is gave_up. Deterministic: equal values give equal bits.
[[nodiscard]] ConstrainedMinimum minimise_constrained(const ConvexFunction& f, Domain& domain, std::size_t dimension,
                                                      const ConstraintOracle& oracle,
                                                      const ConstrainedSettings& settings);

/// The oracle of rows that are given beforehand.
[[nodiscard]] ConstraintOracle oracle_of(std::vector<LinearRow> rows);

}  // namespace starling
