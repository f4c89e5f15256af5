// Laplace noise: δ as a function of ε, continuous and discrete.
#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/privacy/accounting/accounting.hpp"

namespace starling {

namespace {

/// Roundings of the few operations below, towards more loss.
double rounded_up(double delta) {
  return std::min(1.0, delta * (1 + 0x1.0p-48));
}

}  // namespace

double laplace_delta(double ratio, double epsilon) {
  check(ratio >= 0 && epsilon >= 0, "laplace loss of ratio={} at epsilon={} (neither may be negative)", ratio, epsilon);
  if (epsilon >= ratio) return 0;
  return rounded_up(-std::expm1((epsilon - ratio) / 2));
}

double discrete_laplace_delta(double a, std::int64_t sensitivity, double epsilon) {
  check(a > 0 && std::isfinite(a) && sensitivity >= 0 && epsilon >= 0,
        "discrete laplace loss of a={}, sensitivity={} at epsilon={} (a must be positive and finite, the others at "
        "least 0)",
        a, sensitivity, epsilon);
  const double whole = a * static_cast<double>(sensitivity);
  if (epsilon >= whole) return 0;
  // Between l = a (sensitivity − 2j) and l − 2a: with y = (l − ε)/2 on [0, a], the share of the chord that is left is
  // (1 − e^(−2y))/(1 − e^(−2a)), as e^ε goes from e^l down to e^(l − 2a).
  const double j = std::floor((whole - epsilon) / (2 * a));
  const double y = std::clamp((whole - 2 * a * j - epsilon) / 2, 0.0, a);
  const double share = std::expm1(-2 * y) / std::expm1(-2 * a);
  const double nearer = -std::expm1(-a * j);
  return rounded_up(nearer + share * std::exp(-a * j) * -std::expm1(-a));
}

}  // namespace starling
