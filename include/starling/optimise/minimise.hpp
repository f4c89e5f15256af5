/// Minimisation of a convex function over a domain, down to a certificate of how far from the minimum the result is.
#pragma once

#include <cstdint>
#include <functional>

#include "starling/core/columns.hpp"
#include "starling/mirror/mirror.hpp"

namespace starling {

/// Value at x, which may lie outside the domain, and a (sub)gradient into `gradient` (as many entries).
using ConvexFunction = std::function<double(View x, MutableView gradient)>;

struct MinimiseSettings {
  /// Of a gap, relative to the value where that exceeds 1.
  double gap = 1e-9;
  /// Of a gradient norm, relative to the first gradient's where that exceeds 1.
  double gradient_norm = 1e-6;
  /// Most evaluations of the function.
  std::int64_t evaluations = 10'000;
  /// μ: the function less (μ/2)‖x‖² is convex too.
  double strong_convexity = 0;
  /// Where the search begins; empty: the domain's centre.
  Vector start = {};
  /// Whether the function may have kinks: then cutting planes take over where gradient steps get no further.
  enum class Kinks { possible, none } kinks = Kinks::possible;
  /// Asked before each evaluation; false ends the search.
  std::function<bool()> go_on = [] { return true; };
};

struct Minimum {
  enum class Certificate {
    gap,  ///< value − minimum ≤ it: value − max over evaluated y of min_{s ∈ X} f(y) + ⟨∇f(y), s − y⟩
    /// ‖x − Π_X(x − ∇f(x))‖, where the domain bounds nothing: small, but no bound on the value. Where f has a kink it
    /// is the norm of a combination of subgradients whose planes come within the gap's tolerance of f(x).
    gradient_norm,
  };
  enum class Ending {
    reached,       ///< the certificate is within the tolerance
    gave_up,       ///< it is not, after as many evaluations as are allowed or as still lower the value
    not_attained,  ///< the function goes on falling along x: its minimum is at infinity
    unbounded,     ///< it falls without end; `x` is where the search stopped
    interrupted,   ///< go_on said no
  };
  Vector x;
  double value = 0;
  Certificate kind = Certificate::gap;
  double certificate = 0;
  double tolerance = 0;  ///< what it was to come under
  std::int64_t evaluations = 0;
  Ending ending = Ending::reached;
};

/// "gap", "gradient norm".
[[nodiscard]] const char* name_of(Minimum::Certificate kind);

/// A few accelerated projected gradient steps (Beck and Teboulle 2009) with backtracking, and with a restart wherever
/// the momentum points uphill (O'Donoghue and Candès 2015); then quasi-Newton steps (L-BFGS, Nocedal 1980) along the
/// face of the domain that the point is on; then gradient steps again; and where half of the evaluations have not
/// reached the tolerance and kinks are possible, a proximal bundle method (Kiwiel 1990): it needs no smoothness.
/// Deterministic: equal values of f give equal bits.
[[nodiscard]] Minimum minimise(const ConvexFunction& f, Domain& domain, std::size_t dimension,
                               const MinimiseSettings& settings);

}  // namespace starling
