#include "protocol/renewable/renewable.hpp"

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"

namespace starling {

Renewable::Renewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                     const Released<Vector>& start)
    : AggregatedRounds(root, clients, start), clients_(clients), model_(model), settings_(settings) {}

double Renewable::count_records(const RoundPrices& prices) {
  Released<Vector> own = declare_public(Vector(1));
  const Released<Vector> total = root_.sum(1, [&](std::size_t k) -> const Released<Vector>& {
    return own = declare_public(Vector{prices[k] ? clients_.public_records(k, done_) : 0.0});
  });
  return root_.aggregates() ? total.value()[0] : 0;
}

Vector Renewable::penalty_gradient(View theta, double a) const {
  Vector gradient(theta.begin(), theta.end());
  scale(a, gradient);
  if (settings_.penalty == Penalty::slopes) {
    for (std::size_t k = 1; k <= model_.classes(); ++k) gradient[k * model_.order() - 1] = 0;
  }
  return gradient;
}

double Renewable::penalty_value(View theta, double a) const {
  return dot(theta, penalty_gradient(theta, a)) / 2;
}

void Renewable::add_penalty(BlockCurvature& curvature, double a) const {
  if (settings_.penalty == Penalty::full) {
    curvature.add_identity(a);
  } else {
    curvature.add_slopes(a);
  }
}

}  // namespace starling
