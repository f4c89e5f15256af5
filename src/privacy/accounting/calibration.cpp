// Calibration: the largest price per release with which many releases stay within a given loss.
#include <array>
#include <cmath>

#include "core/check.hpp"
#include "privacy/accounting/accounting.hpp"

namespace starling {

namespace {

double total(const Charge& charge, double delta, std::int64_t releases) {
  const std::array<ChargeGroup, 1> group{{{charge, releases}}};
  return compose(group, delta).epsilon;
}

double below(double value) {
  return std::nextafter(value, 0.0);
}

void check_releases(std::int64_t releases) {
  check(releases >= 1, "releases={}: noise is calibrated for at least one.", releases);
}

/// An argument x = ln ε per release with f(x) = ln of the total over its limit.
struct CurvePoint {
  double x = 0;
  double f = 0;
};

/// Next step to try: the zero of the line through both ends of the bracket. The zero is moved towards the farther end,
/// so that both ends come in. The middle of the bracket, if the zero is of no use.
double next_between(const CurvePoint& good, const CurvePoint& bad, double step) {
  const double middle = (good.x + bad.x) / 2;
  const double slope = (bad.f - good.f) / (bad.x - good.x);
  if (!std::isfinite(slope) || slope <= 0) return middle;
  const double root = good.x - good.f / slope;
  const double moved = root + (root < middle ? step : -step);
  return moved > good.x && moved < bad.x ? moved : middle;
}

}  // namespace

double largest_gaussian_mu(double mu, std::int64_t releases) {
  check_releases(releases);
  check(mu > 0 && std::isfinite(mu), "mu={}: it must be positive and finite.", mu);
  double each = mu / std::sqrt(static_cast<double>(releases));
  const auto sum = [&] {
    const std::array<ChargeGroup, 1> group{{{Charge::gaussian(each), releases}}};
    return compose(group, 0).mu.value_or(0);
  };
  while (sum() > mu) each = below(each);
  return each;
}

double largest_gaussian_mu(double epsilon, double delta, std::int64_t releases) {
  const double mu = gaussian_mu(epsilon, delta);
  return mu > 0 ? largest_gaussian_mu(mu, releases) : 0;
}

double largest_laplace_epsilon(double epsilon, double delta, std::int64_t releases) {
  check_releases(releases);
  check(epsilon > 0 && std::isfinite(epsilon) && delta >= 0 && delta < 1,
        "epsilon={} and delta={}: epsilon must be positive and finite, delta from 0 to below 1.", epsilon, delta);
  double pure = epsilon / static_cast<double>(releases);
  while (total(Charge::laplace(pure), 0, releases) > epsilon) pure = below(pure);
  if (delta == 0) return pure;
  const auto at = [&](double x) {
    return CurvePoint{x, std::log(total(Charge::laplace(std::exp(x)), delta, releases) / epsilon)};
  };
  constexpr double narrow = 2e-6;
  CurvePoint good{std::log(pure), 0};
  CurvePoint bad = at(good.x + 1);
  for (; bad.f <= 0; bad = at(bad.x + 1)) good = bad;
  double best = good.x == std::log(pure) ? pure : std::exp(good.x);
  for (int step = 0; bad.x - good.x > narrow && step < 100; ++step) {
    // Every fourth step halves the bracket, whatever the line says.
    const CurvePoint next = at(step % 4 == 3 ? (good.x + bad.x) / 2 : next_between(good, bad, narrow / 2));
    if (next.f <= 0) {
      good = next;
      best = std::exp(next.x);
    } else {
      bad = next;
    }
  }
  return best;
}

}  // namespace starling
