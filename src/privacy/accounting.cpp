#include "starling/privacy/accounting.hpp"

#include "loss_classes.hpp"
#include "loss_distribution.hpp"
#include "renyi.hpp"
#include <cmath>
#include <limits>

#include "starling/core/check.hpp"

namespace starling {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Classes of charges that the loss distribution keeps apart; more are merged upwards.
constexpr std::size_t most_classes = 128;

/// The δ that is left for the losses once one of the approximate charges may fail altogether: δ = f + (1 − f) δ'.
double without_leak(double delta, long double leak) {
  if (leak == 0) return delta;
  const long double rest = (static_cast<long double>(delta) - leak) / (1 - leak);
  return static_cast<double>(rest * (1 - 1e-15L));
}

void take(PrivacyLoss& loss, double epsilon, const char* method) {
  if (epsilon >= loss.epsilon) return;
  loss.epsilon = epsilon;
  loss.method = method;
}

/// Gaussian charges alone.
void compose_gaussian(const Losses& losses, PrivacyLoss& loss) {
  loss.mu = losses.mu();
  loss.epsilon = gaussian_epsilon(*loss.mu, loss.delta);
  loss.method = "gdp";
  if (loss.delta == 0 || loss.delta == 1) return;
  loss.renyi = losses.classes.empty() ? 0 : renyi_loss(losses, loss.delta).epsilon;
}

void compose_at(const Losses& losses, double rest, PrivacyLoss& loss) {
  if (losses.classes.empty()) {
    loss.renyi = 0;
    return take(loss, 0, "pure");
  }
  const RenyiLoss renyi = renyi_loss(losses, rest);
  loss.renyi = renyi.epsilon;
  if (renyi.epsilon > 0) {
    const double reach = std::min(renyi.epsilon, loss.epsilon);
    const auto epsilon = distribution_epsilon(merged(losses, most_classes), rest, renyi.lambda, reach);
    if (epsilon) take(loss, *epsilon, "pld");
  }
  take(loss, renyi.epsilon, "renyi");
}

}  // namespace

PrivacyLoss compose(std::span<const ChargeGroup> groups, double delta) {
  check(delta >= 0 && delta <= 1, "delta={} (it is a probability)", delta);
  const Losses losses = losses_of(groups);
  PrivacyLoss loss;
  loss.delta = delta;
  loss.method = "none";
  if (losses.releases == 0) return loss;
  loss.epsilon = infinity;
  if (losses.unbounded) return loss;
  if (losses.all_gaussian) {
    compose_gaussian(losses, loss);
    return loss;
  }
  if (losses.leak > static_cast<long double>(delta)) {
    if (losses.leak > static_cast<long double>(delta) * (1 + 1e-12L)) return loss;  // a failure is likelier than δ
    loss.delta = delta = std::min(1.0, std::nextafter(static_cast<double>(losses.leak), infinity));
  }
  take(loss, losses.pure_sum(), "pure");
  if (delta == 0) return loss;
  const double rest = without_leak(delta, losses.leak);
  if (rest >= 1) take(loss, 0, "pure");
  if (rest > 0 && rest < 1) compose_at(losses, rest, loss);
  return loss;
}

std::optional<Charge> of_group(const Charge& charge, double members) {
  check(members >= 1 && std::isfinite(members), "a group of {} (it has at least 1 member)", members);
  const auto times = [members](double loss) {
    const double product = members * loss;
    return static_cast<long double>(members) * static_cast<long double>(loss) > static_cast<long double>(product)
               ? std::nextafter(product, infinity)
               : product;
  };
  switch (charge.kind) {
    case ChargeKind::pure:
      return Charge::pure(times(charge.epsilon));
    case ChargeKind::laplace:
      return Charge::laplace(times(charge.epsilon));
    case ChargeKind::gaussian:
      return Charge::gaussian(times(charge.mu));
    case ChargeKind::approximate:
      return std::nullopt;
    case ChargeKind::unbounded:
      break;
  }
  return Charge::unbounded();
}

}  // namespace starling
