#include "privacy/accounting/accounting.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "loss_classes.hpp"
#include "loss_distribution.hpp"
#include "renyi.hpp"

namespace starling {

namespace {

/// Classes of charges that the loss distribution keeps apart; more are merged upwards.
constexpr std::size_t most_classes = 128;

/// The δ that is left for the losses once one of the approximate charges may fail altogether: δ = f + (1 − f) δ'.
double without_leak(double delta, long double leak) {
  if (leak == 0) return delta;
  const long double rest = (static_cast<long double>(delta) - leak) / (1 - leak);
  return static_cast<double>(rest * (1 - 1e-15L));
}

/// Σ ε of all charges that are not Gaussian.
double total_epsilon(const Losses& losses) {
  double epsilon = 0;
  for (const LossClass& one : losses.classes) {
    if (one.kind != LossKind::gaussian) epsilon += static_cast<double>(one.count) * one.size;
  }
  return epsilon;
}

/// Beyond these sizes the lattice's exponents lose digits, its panels become too many, and Rényi's figure is as good.
bool fits_a_lattice(const Losses& losses) {
  return total_epsilon(losses) <= 1e5 && losses.mu() <= 1e3;
}

/// Beyond this the sum of ε is as good as Rényi's figure, and loses no digits.
bool is_simply_the_sum(const Losses& losses) {
  return total_epsilon(losses) > 1e9 && losses.mu() == 0;
}

void take(PrivacyLoss& loss, double epsilon, const char* method) {
  if (!(epsilon >= 0 && epsilon < loss.epsilon)) return;
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
  if (renyi.epsilon > 0 && fits_a_lattice(losses)) {
    const double reach = std::min(renyi.epsilon, loss.epsilon);
    const auto epsilon = distribution_epsilon(merged(losses, most_classes), rest, renyi.lambda, reach);
    if (epsilon) take(loss, *epsilon, "pld");
  }
  if (!is_simply_the_sum(losses)) take(loss, renyi.epsilon, "renyi");
}

}  // namespace

PrivacyLoss compose(std::span<const ChargeGroup> groups, double delta) {
  check(delta >= 0 && delta <= 1, "delta={}: it is a probability.", delta);
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
  check(members >= 1 && std::isfinite(members), "a group of {}: it has at least 1 member.", members);
  const auto times = [members](double loss) {
    const double product = members * loss;
    return std::fma(members, loss, -product) > 0 ? std::nextafter(product, infinity) : product;
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
