/// Minimisation of a convex function over a domain, with a certificate of the distance to the minimum.
#pragma once

#include <cstdint>
#include <functional>

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

}  // namespace starling
