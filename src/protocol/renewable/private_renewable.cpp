#include "protocol/renewable/private_renewable.hpp"

#include <cmath>
#include <utility>

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"

namespace starling {

PrivateRenewable::PrivateRenewable(Root& root, RenewableClients& clients, CurvedModel& model,
                                   const RenewableSettings& settings, const Released<Vector>& start, NoisySum& sum,
                                   std::optional<PublicCurvature> public_curvature)
    : Renewable(root, clients, model, settings, start),
      sum_(sum),
      public_curvature_(std::move(public_curvature)),
      j_(model.classes(), model.order()),
      sandwich_(model.classes(), model.order()) {}

// docs/methods/renewable.md, "Privacy".
void PrivateRenewable::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on()) {
    const RoundPrices prices = clients_.begin_all(done_);
    const double records = count_records(prices);
    const Released<Vector> sums =  // Σ ∇ℓ + noise; the time includes waiting for other ranks
        timed(&TimeShares::learning, [&] { return sum_.collect(done_, theta_.value(), prices); });
    if (root_.aggregates() && records > 0) renew(sums.value(), records);  // J, θ_b
    if (root_.aggregates() && settings_.with_slopes && is_last()) take_estimate();
    root_.broadcast(theta_);
    completed();
  }
}

/// J ← ρJ + H̄ + nλI,  θ_b = θ_{b−1} − J⁻¹ (Σ ∇ℓ + noise + nλPθ_{b−1}).
void PrivateRenewable::renew(View total, double records) {
  const std::size_t d = model_.dimension();
  j_.scale(settings_.forget);
  j_.add_identity(records * (l2() + (public_curvature_ ? public_curvature_->multiple : 0)));
  if (!public_curvature_) {
    j_.add(total.subspan(d));
  } else if (!public_curvature_->triangle.empty()) {
    j_.add(public_curvature_->triangle, records);
  }
  Vector gradient = penalty_gradient(theta_.value(), records * l2());
  axpy(1, total.first(d), gradient);
  if (settings_.with_slopes && is_late()) {
    BlockCurvature of_batch(model_.classes(), model_.order());
    of_batch.add(total.subspan(d));
    add_penalty(of_batch, records * l2());
    sandwich_.add(gradient, theta_.value(), of_batch);
  }
  const Vector step = timed(&TimeShares::mixing, [&] {
    return public_curvature_ ? j_.solve(gradient, fmt::format("batch {}", done_ + 1)) : j_.solve_clipped(gradient);
  });
  theta_.update([&](Vector& theta) { axpy(-1, step, theta); });
  check<DataError>(
      std::isfinite(norm2(theta_.value())),
      "batch {}: the model is not finite: the noise is larger than the curvature. Raise --l2 or the price.", done_ + 1);
}

/// The model becomes θ̂; it stays as it is where there is none, which who asks for standard errors is told.
void PrivateRenewable::take_estimate() {
  try {
    const BatchSandwich::Estimate estimate = sandwich_.estimate("standard errors");
    theta_.update([&](Vector& theta) { theta = estimate.theta; });
  } catch (const DataError&) {
  }
}

}  // namespace starling
