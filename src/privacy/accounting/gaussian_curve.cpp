// Gaussian noise: δ as a function of (μ, ε), and its inverses.
#include <cmath>
#include <limits>
#include <numbers>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "privacy/accounting/accounting.hpp"

namespace starling {

namespace {

using Real = long double;

constexpr Real log_root_two_pi = 0.918938533204672741780329736405617639862L;
/// Above the relative error of every term below, some ten roundings of long double and the library's erfc.
constexpr Real slack = 64 * std::numeric_limits<Real>::epsilon();

Real upper_tail(Real x) {  // Φ(−x)
  return std::erfc(x / std::numbers::sqrt2_v<Real>) / 2;
}

/// Mills' ratio Φ(−x)/φ(x), x ≥ 0: for large x by Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/(x + …)))),
/// of which 40 terms leave less than 1e-25 of the whole from x = 4 on (below, the errors of the direct form are small).
Real mills(Real x) {
  if (x < 4) return upper_tail(x) * std::exp(x * x / 2 + log_root_two_pi);
  Real tail = x;
  for (int k = 40; k >= 1; --k) tail = x + static_cast<Real>(k) / tail;
  return 1 / tail;
}

/// ln δ, rounded up. With x = ε/μ − μ/2 and y = x + μ: e^ε φ(y) = φ(x), hence δ = φ(x) (R(x) − R(y)) for Mills' ratio
/// R, in which nothing underflows.
Real log_delta(Real mu, Real epsilon) {
  const Real x = epsilon / mu - mu / 2;
  const Real second = mills(epsilon / mu + mu / 2);
  const Real log_density = -x * x / 2 - log_root_two_pi;
  const Real exponent_slack = slack * (1 + x * x + mu * mu);
  if (x <= 0)
    return std::log(upper_tail(x) * (1 + slack) - std::exp(log_density) * second * (1 - slack)) + exponent_slack;
  const Real first = mills(x);
  return log_density + std::log(first * (1 + slack) - second * (1 - slack)) + exponent_slack;
}

void check_arguments(bool good, double first, double second) {
  check(good, "gaussian loss of {} and {}: mu and epsilon are at least 0, delta is between 0 and 1.", first, second);
}

/// The last two neighbours between `good`, for which `holds`, and `bad`, for which it does not: the one for which it
/// does.
template <class Holds>
double last_good(double good, double bad, const Holds& holds) {
  for (int step = 0; step < 2000; ++step) {
    const double middle = std::min(good, bad) + std::abs(bad - good) / 2;
    if (middle == good || middle == bad) break;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

double gaussian_delta(double mu, double epsilon) {
  check_arguments(mu >= 0 && epsilon >= 0, mu, epsilon);
  if (mu == 0 || std::isinf(epsilon)) return 0;
  if (std::isinf(mu)) return 1;
  const Real delta = std::exp(log_delta(mu, epsilon));
  return std::min(1.0, std::nextafter(static_cast<double>(delta), infinity));
}

double gaussian_epsilon(double mu, double delta) {
  check_arguments(mu >= 0 && delta >= 0 && delta <= 1, mu, delta);
  if (mu == 0 || delta == 1) return 0;
  if (delta == 0 || std::isinf(mu)) return infinity;
  const Real target = std::log(static_cast<Real>(delta));
  const auto enough = [&](double epsilon) { return log_delta(mu, epsilon) <= target; };
  if (enough(0)) return 0;
  double low = 0;
  double high = 1;
  while (!enough(high)) {
    low = high;
    high *= 2;
    if (std::isinf(high)) return infinity;
  }
  return last_good(high, low, enough);
}

double gaussian_mu(double epsilon, double delta) {
  check_arguments(epsilon >= 0 && delta > 0 && delta < 1, epsilon, delta);
  if (std::isinf(epsilon)) return infinity;
  const Real target = std::log(static_cast<Real>(delta));
  const auto enough = [&](double mu) { return log_delta(mu, epsilon) <= target; };
  double low = 1;
  while (!enough(low)) {
    low /= 2;
    if (low == 0) return 0;
  }
  double high = 2 * low;
  while (enough(high)) {
    low = high;
    high *= 2;
  }
  return last_good(low, high, enough);
}

}  // namespace starling
