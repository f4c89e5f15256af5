/// Minimisation of a convex function over a domain under further convex constraints, with a bound by the duality gap.
/// For the comparators of constrained learning (docs/methods/constraints.md, "Regret and violation").
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optimise/minimise.hpp"

namespace starling {

/// A linear constraint slope · x ≤ bound.
struct LinearRow {
  Vector slope;
  double bound = 0;
};

/// Value and (sub)gradient of a convex constraint c(x) ≤ 0 at some x.
struct Cut {
  double value = 0;
  Vector gradient;
};

/// The constraint that x violates most, or is nearest to violating; none if there is no constraint. An oracle of many
/// rows (a window of rounds each) makes the search work with only the rows that were ever the worst.
using ConstraintOracle = std::function<std::optional<Cut>(View x)>;

struct ConstrainedSettings {
  MinimiseSettings inner;  ///< `gap` and `gradient_norm` are of the result, `evaluations` of all minimisations together
  double violation = 1e-8;  ///< largest c(x), relative to the gradient's norm if that exceeds 1
  int most_rounds = 200;    ///< most minimisations with fixed multipliers
  /// Rows used from the start; others come from the oracle.
  std::vector<LinearRow> rows = {};
};

/// Result of a constrained search.
struct ConstrainedMinimum {
  /// x and f(x). The certificate is the absolute duality gap f(x) − max over multipliers of a lower bound of the
  /// Lagrangian's minimum; in a domain without bounds it is the gradient norm of the last Lagrangian.
  Minimum minimum;
  double violation = 0;          ///< max(0, c(x)) of the worst constraint
  double largest_violation = 0;  ///< tolerance of `violation`
  std::vector<LinearRow> rows;   ///< the rows in use at the end
  Vector multipliers;            ///< multipliers of `rows`, ≥ 0
  /// Whether both the certificate and the violation are within their tolerances.
  [[nodiscard]] bool reached() const { return minimum.ending == Minimum::Ending::reached; }
};

/// Minimises f by an augmented Lagrangian (Rockafellar 1973) on rows that the oracle adds. Each minimisation of
/// f + Σ (max(0, λ_i + ρ c_i)² − λ_i²) / 2ρ over the domain bounds the constrained minimum from below, for any λ ≥ 0.
/// If no point of the domain satisfies all constraints, the result has a violation and `ending` is gave_up.
/// Deterministic: equal values give equal bits.
[[nodiscard]] ConstrainedMinimum minimise_constrained(const ConvexFunction& f, Domain& domain, std::size_t dimension,
                                                      const ConstraintOracle& oracle,
                                                      const ConstrainedSettings& settings);

}  // namespace starling
