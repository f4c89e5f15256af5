#include "protocol/renewable/paper_renewable.hpp"

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"
#include "privacy/without_noise.hpp"

namespace starling {

PaperRenewable::PaperRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                               const RenewableSettings& settings, const Released<Vector>& start,
                               PaperPerturbation& perturbation, double rho, const Codec& codec)
    : Renewable(root, clients, model, settings, start),
      perturbation_(perturbation),
      rho_(rho),
      codec_(codec),
      state_(RenewableState{start.value(), BlockCurvature(model.classes(), model.order()),
                            SecondLook(model.classes(), model.order())}),
      sandwich_(BatchSandwich(model.classes(), model.order())) {}

// Guo et al., Algorithm 2.
void PaperRenewable::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on()) {
    const RoundPrices prices = clients_.begin_all(done_);  // 4. D_b
    for (std::size_t k = 0; k < clients_.count(); ++k) clients_.tally(k, theta_.value());
    const double records = count_records(prices);
    const Secret<Vector> sums = collect();                        // 5. gradients and curvatures, without noise
    if (root_.aggregates() && records > 0) renew(sums, records);  // 6. to 8.
    if (root_.aggregates() && settings_.with_slopes && is_last()) take_estimate();
    root_.broadcast(theta_);
    completed();
  }
}

Secret<Vector> PaperRenewable::collect() {
  Entrusted<Vector> message = TrustedAggregator::entrust(Secret<Vector>());
  return root_.sum_entrusted(
      clients_.layout(false).size(),
      [&](std::size_t k) -> const Entrusted<Vector>& {
        return timed(&TimeShares::learning, [&]() -> const Entrusted<Vector>& {
          return message = TrustedAggregator::entrust(clients_.answer(k, theta_.value(), {}));
        });
      },
      codec_);
}

/// θ_b = (J + ρI)⁻¹ (Jθ_{b−1} − ∇L − ξ) = θ_{b−1} − (J + ρI)⁻¹ (∇L + ξ + ρθ_{b−1}) with the noise ξ.
void PaperRenewable::renew(const Secret<Vector>& sums, double records) {
  const MessageLayout at = clients_.layout(false);
  const std::string batch = fmt::format("batch {}", done_ + 1);
  const Secret<Vector> xi =
      perturbation_.noise({ReleasePath::renewable_paper, 0, done_, 0}, clients_.key(0), records_, records_ + records);
  if (settings_.with_slopes && is_late()) {
    ++late_batches_;
    sandwich_.update(
        [&](BatchSandwich& sandwich, const RenewableState& state, const Vector& total, const Vector& noise) {
          BlockCurvature of_batch(model_.classes(), model_.order());
          of_batch.add(View(total).subspan(at.curvature(), at.triangles));
          add_penalty(of_batch, records * l2());
          Vector psi = penalty_gradient(state.theta, records * l2());
          axpy(1, View(total).first(at.dimension), psi);
          axpy(1, noise, psi);
          sandwich.add(psi, state.theta, of_batch);
        },
        state_, sums, xi);
  }
  state_.update(
      [&](RenewableState& state, const Vector& total, const Vector& noise) {
        state.j.scale(settings_.forget);
        state.j.add(View(total).subspan(at.curvature(), at.triangles));
        state.j.add_identity(records * l2());
        BlockCurvature shifted = state.j;
        shifted.add_identity(rho_);
        Vector gradient = penalty_gradient(state.theta, records * l2());
        axpy(1, View(total).first(at.dimension), gradient);
        axpy(1, noise, gradient);
        axpy(rho_, state.theta, gradient);
        axpy(-1, shifted.solve(gradient, batch), state.theta);
      },
      sums, xi);
  theta_ = perturbation_.publish(state_.map([](const RenewableState& state) { return state.theta; }));
  records_ += records;
}

/// As PrivateRenewable::take_estimate().
void PaperRenewable::take_estimate() {
  try {
    theta_ = perturbation_.publish(
        sandwich_.map([](const BatchSandwich& sums) { return sums.estimate("standard errors").theta; }));
  } catch (const DataError&) {
  }
}

Vector PaperRenewable::variances() {
  return perturbation_
      .publish(sandwich_.map([](const BatchSandwich& sums) { return sums.estimate("standard errors").variances; }))
      .value();
}

}  // namespace starling
