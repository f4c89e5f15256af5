#include "starling/protocol/renewable/renewable_private.hpp"

#include <cmath>

#include "starling/core/numerics/kernels.hpp"
#include "starling/privacy/entrust.hpp"

namespace starling {

namespace {

/// All local clients begin round t, and pay for it.
RoundPrices begin_all(RenewableClients& clients, Round t) {
  RoundPrices prices;
  for (std::size_t k = 0; k < clients.count(); ++k) prices.push_back(clients.begin(k, t));
  return prices;
}

}  // namespace

double count_records(Root& root, const RenewableClients& clients, Round t, const RoundPrices& prices) {
  Released<Vector> own = declare_public(Vector(1));
  const Released<Vector> total = root.sum(1, [&](std::size_t k) -> const Released<Vector>& {
    return own = declare_public(Vector{prices[k] ? clients.public_records(k, t) : 0.0});
  });
  return root.aggregates() ? total.value()[0] : 0;
}

PrivateRenewable::PrivateRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                                   const RenewableSettings& settings, const Released<Vector>& start, NoisySum& sum,
                                   std::optional<double> public_curvature)
    : Renewable(root, clients, model, settings, start),
      sum_(sum),
      public_curvature_(public_curvature),
      j_(model.classes(), model.order()) {}

void PrivateRenewable::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on()) {
    const RoundPrices prices = begin_all(clients_, done_);
    const double records = count_records(root_, clients_, done_, prices);
    // Σ ∇ℓ + noise; waiting for others' is in the time
    const Released<Vector> sums =
        timed(&TimeShares::learning, [&] { return sum_.collect(done_, theta_.value(), prices); });
    if (root_.aggregates() && records > 0) renew(sums, records);
    root_.broadcast(theta_);
    completed();
  }
}

// J ← ρJ + H̄ + nλI;  θ_b = θ_{b−1} − J⁻¹ (Σ ∇ℓ + noise + nλPθ_{b−1})
void PrivateRenewable::renew(const Released<Vector>& sums, double records) {
  const std::size_t d = model_.dimension();
  const View total = sums.value();
  j_.scale(settings_.forget);
  j_.add_identity(records * (settings_.l2 + public_curvature_.value_or(0)));
  if (!public_curvature_) j_.add(total.subspan(d));
  Vector gradient = penalty_gradient(theta_.value(), records);
  axpy(1, total.first(d), gradient);
  const Vector step = timed(&TimeShares::mixing, [&] {
    return public_curvature_ ? j_.solve(gradient, fmt::format("batch {}", done_ + 1)) : j_.solve_clipped(gradient);
  });
  theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
  check<DataError>(std::isfinite(norm2(theta_.value())),
                   "batch {}: the model is not finite (the noise is larger than the curvature) raise --l2 or the price",
                   done_ + 1);
}

PaperRenewable::PaperRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                               const RenewableSettings& settings, const Released<Vector>& start,
                               PaperPerturbation& perturbation, double rho, const Codec& codec)
    : Renewable(root, clients, model, settings, start),
      perturbation_(perturbation),
      rho_(rho),
      codec_(codec),
      state_(RenewableState{start.value(), BlockCurvature(model.classes(), model.order())}) {}

// Algorithm 2.
void PaperRenewable::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on()) {
    const RoundPrices prices = begin_all(clients_, done_);
    for (std::size_t k = 0; k < clients_.count(); ++k) clients_.tally(k, theta_.value());
    renew(count_records(root_, clients_, done_, prices));
    completed();
  }
}

void PaperRenewable::renew(double records) {
  const MessageLayout at = clients_.layout(false);
  Entrusted<Vector> message = TrustedAggregator::entrust(Secret<Vector>());
  const Secret<Vector> sums = root_.sum_entrusted(
      at.size(),
      [&](std::size_t k) -> const Entrusted<Vector>& {  // 5. gradient and curvature, in the clear
        return timed(&TimeShares::learning, [&]() -> const Entrusted<Vector>& {
          return message = TrustedAggregator::entrust(clients_.answer(k, theta_.value(), {}));
        });
      },
      codec_);
  if (root_.aggregates() && records > 0) {
    const std::string batch = fmt::format("batch {}", done_ + 1);
    const Secret<Vector> xi = perturbation_.noise({ReleasePath::renewable_paper, 0, done_, 0}, clients_.key(0),
                                                  records_, records_ + records);  // 6., 7.
    // 8. θ_b = (J + ρI)⁻¹ (Jθ_{b−1} − ∇L − ξ) = θ_{b−1} − (J + ρI)⁻¹ (∇L + ξ + ρθ_{b−1})
    state_.update(
        [&](RenewableState& state, const Vector& total, const Vector& noise) {
          state.j.scale(settings_.forget);
          state.j.add(View(total).subspan(at.curvature(), at.triangles));
          state.j.add_identity(records * settings_.l2);
          BlockCurvature shifted = state.j;
          shifted.add_identity(rho_);
          Vector gradient = penalty_gradient(state.theta, records);
          axpy(1, View(total).first(at.dimension), gradient);
          axpy(1, noise, gradient);
          axpy(rho_, state.theta, gradient);
          axpy(-1, shifted.solve(gradient, batch), state.theta);
        },
        sums, xi);
    theta_ = perturbation_.publish(state_.map([](const RenewableState& state) { return state.theta; }));
    records_ += records;
  }
  root_.broadcast(theta_);
}

}  // namespace starling
