#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "hindsight_loss.hpp"
#include "regret.hpp"

namespace starling {

namespace {

// For the comparators of earlier marks, which make a curve.
constexpr double curve_gap = 1e-7;
constexpr double curve_gradient_norm = 1e-5;
constexpr std::int64_t curve_evaluations = 2000;
constexpr double most_error = 0.01;  ///< of a curve's point, relative

Minimum best_before(const EvaluationPass& pass, HindsightLoss& loss, MinimiseSettings settings) {
  settings.strong_convexity = pass.data().l2.strong_convexity();
  settings.go_on = [&] { return !loss.interrupted(); };
  return minimise([&](View x, MutableView gradient) { return loss.evaluate(x, gradient); }, pass.domain(),
                  pass.model().dimension(), settings);
}

/// NaN where the comparator is too uncertain for this regret.
double regret_if_certain(double played, double client_rounds, const Minimum& comparator) {
  const double regret = played - client_rounds * comparator.value;
  const bool bounded = comparator.kind == Minimum::Certificate::gap &&
                       client_rounds * comparator.certificate <= most_error * std::abs(regret);
  return comparator.ending == Minimum::Ending::reached || bounded ? regret : std::numeric_limits<double>::quiet_NaN();
}

Vector curve_of(const EvaluationPass& pass, const StaticRegret& whole) {
  const std::size_t last = pass.marks().size() - 1;
  Vector curve(last + 1, std::numeric_limits<double>::quiet_NaN());
  curve[last] = whole.exists() ? whole.total() : curve[last];
  MinimiseSettings settings;
  settings.gap = curve_gap;
  settings.gradient_norm = curve_gradient_norm;
  settings.evaluations = curve_evaluations;
  for (std::size_t j = 0; j < last; ++j) {
    if (pass.client_rounds()[j] == 0) continue;
    HindsightLoss loss(pass, j);
    const Minimum best = best_before(pass, loss, settings);
    if (best.ending == Minimum::Ending::interrupted) break;
    curve[j] = regret_if_certain(pass.played()[j], loss.client_rounds(), best);
    settings.start = best.x;
  }
  return curve;
}

}  // namespace

StaticRegret static_regret(const EvaluationPass& pass) {
  const std::size_t last = pass.marks().size() - 1;
  HindsightLoss loss(pass, last);
  StaticRegret regret;
  regret.client_rounds = static_cast<std::int64_t>(loss.client_rounds());
  regret.played = pass.played()[last];
  regret.comparator = best_before(pass, loss, {});
  regret.best = loss.by_client(regret.comparator.x);
  if (regret.exists() && regret.comparator.ending != Minimum::Ending::interrupted)
    regret.curve = curve_of(pass, regret);
  return regret;
}

std::string remark_on(const StaticRegret& regret) {
  const Minimum& x = regret.comparator;
  switch (x.ending) {
    case Minimum::Ending::reached:
      return "";
    case Minimum::Ending::gave_up:
      return fmt::format(
          "static regret: after {} evaluations the comparator's {} is {:.2g}, not {:.2g} as it should be; the regret "
          "may be larger than shown{}",
          x.evaluations, name_of(x.kind), x.certificate, x.tolerance,
          x.kind == Minimum::Certificate::gap
              ? fmt::format(", by up to {:.2g}", static_cast<double>(regret.client_rounds) * x.certificate)
              : "");
    case Minimum::Ending::not_attained:
      return "static regret: no model is best (the losses go on falling along the comparator: separable data?); the "
             "regret is against the last model tried. A bounded --domain, or --l2, has a best one";
    case Minimum::Ending::unbounded:
      return "static regret: there is none: the losses fall without end on this domain. A bounded --domain, or --l2, "
             "has a best model";
    case Minimum::Ending::interrupted:
      return "static regret: its evaluation was ended by a signal; the comparator is the best model found until then";
  }
  return "";
}

}  // namespace starling
