/// Minimisation of a convex function over a domain, with a certificate of the distance to the minimum.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/columns.hpp"
#include "mirror/mirror.hpp"

namespace starling {

/// A convex function: returns the value at x, which may lie outside the domain, and writes a (sub)gradient to
/// `gradient`.
using ConvexFunction = std::function<double(View x, MutableView gradient)>;

struct MinimiseSettings {
  /// Tolerance of the gap, relative to the value if that exceeds 1.
  double gap = 1e-9;
  /// Tolerance of the gradient norm, relative to the first gradient norm if that exceeds 1.
  double gradient_norm = 1e-6;
  /// Most evaluations of the function.
  std::int64_t evaluations = 10'000;
  /// μ such that the function less (μ/2)‖x‖² is convex.
  double strong_convexity = 0;
  /// Start of the search; the domain's centre if empty.
  Vector start = {};
  /// Whether the function may have kinks. If so, cutting planes take over where gradient steps fail.
  enum class Kinks { possible, none } kinks = Kinks::possible;
  /// Asked before each evaluation; false ends the search.
  std::function<bool()> go_on = [] { return true; };
};

/// Result of a search.
struct Minimum {
  enum class Certificate {
    gap,  ///< bound on value − minimum: value − max over evaluated y of min_{s ∈ X} f(y) + ⟨∇f(y), s − y⟩
    /// ‖x − Π_X(x − ∇f(x))‖, in a domain without bounds; no bound on the value. At a kink of f: norm of a combination
    /// of subgradients whose planes come within the gap's tolerance of f(x).
    gradient_norm,
  };
  enum class Ending {
    reached,       ///< the certificate is within the tolerance
    gave_up,       ///< the certificate is not, after all evaluations that are allowed or that still lower the value
    not_attained,  ///< the function falls on and on along x: its minimum is at infinity
    unbounded,     ///< the function is unbounded below; `x` is where the search stopped
    interrupted,   ///< go_on returned false
  };
  Vector x;
  double value = 0;
  Certificate kind = Certificate::gap;
  double certificate = 0;
  double tolerance = 0;  ///< wanted bound on the certificate
  std::int64_t evaluations = 0;
  Ending ending = Ending::reached;
};

/// "gap", "gradient norm".
[[nodiscard]] const char* name_of(Minimum::Certificate kind);

/// Minimises f over the domain. Deterministic: equal values of f give equal bits. The search alternates
///
///   accelerated projected gradient steps (Beck and Teboulle 2009) with backtracking, restarted where the momentum
///   points
///     uphill (O'Donoghue and Candès 2015), and
///   quasi-Newton steps (L-BFGS, Nocedal 1980) along the face of the domain that the point is on.
///
/// If half of the evaluations have not reached the tolerance and kinks are possible, a proximal bundle method (Kiwiel
/// 1990) follows, which needs no smoothness.
[[nodiscard]] Minimum minimise(const ConvexFunction& f, Domain& domain, std::size_t dimension,
                               const MinimiseSettings& settings);

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
