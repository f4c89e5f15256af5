#include "protocol/aggregated/fedavg.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "protocol/bounded_model.hpp"
#include "protocol/naming_client.hpp"

namespace starling {

FedAvg::FedAvg(Root& root, AggregatedClients& clients, const FedAvgSettings& settings, const Released<Vector>& start,
               Mechanism& mechanism, Vector weights, Vector factors)
    : AggregatedRounds(root, clients, start, &mechanism),
      clients_(clients),
      settings_(settings),
      weights_(std::move(weights)),
      factors_(std::move(factors)),
      contribution_([this](std::size_t k) -> const Released<Vector>& {
        return timed(&TimeShares::learning, [&]() -> const Released<Vector>& { return weighted_update(k); });
      }),
      direction_(declare_public(Vector(start.value().size()))),
      local_(start),
      message_(declare_public(Vector(start.value().size() + 1))),
      total_(declare_public(Vector())),
      kept_(declare_public(Columns())),
      kept_here_(declare_public(Vector())),
      update_(declare_public(std::vector<std::byte>())) {
  if (settings.precision == "double") return;
  const std::size_t d = start.value().size();
  rounding_.emplace(settings.precision);
  kept_ = declare_public(Columns(d, clients.count()));
  kept_here_ = declare_public(Vector(d));
  update_ = declare_public(std::vector<std::byte>(rounding_->codec().bytes(d + 1)));
}

// McMahan et al. 2017, Algorithm 1, with all clients in each round.
void FedAvg::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on(settings_.rounds)) {
    // Σ n_k w_k and Σ n_k, w_k = ClientUpdate(k, θ_t)
    root_.sum(message_.value().size(), contribution_, total_, rounding_ ? rounding_->codec() : plain_codec());
    if (root_.aggregates()) average(total_.value());  // θ_{t+1} = Σ n_k w_k / Σ n_k
    rounding_ ? spread_update() : root_.broadcast(theta_);
    completed();
  }
}

/// The message (n_k w_k, n_k) of client k, or (n_k (w_k − θ_t), n_k) to be rounded; zeros if it made no local step.
const Released<Vector>& FedAvg::weighted_update(std::size_t k) {
  const double weight = update_client(k) ? weights_[k] : 0;
  message_.update(
      [&](Vector& message, const Vector& w, const Vector& theta) {
        for (std::size_t j = 0; j < w.size(); ++j) message[j] = weight * (rounding_ ? w[j] - theta[j] : w[j]);
        message.back() = weight;
      },
      local_, theta_);
  if (rounding_ && weight > 0) {
    message_.update(
        [&](Vector& message) { kept_.update([&](Columns& kept) { rounding_->add_kept(message, kept[k]); }); });
  }
  return message_;
}

/// ClientUpdate(k, θ_t): E local steps from θ_t, or as many as the stream and the budget allow. Whether there was one;
/// the result is local_.
bool FedAvg::update_client(std::size_t k) {
  local_ = theta_;
  bool stepped = false;
  for (Round e = 0; e < settings_.local_steps; ++e) {
    const Round step = done_ * settings_.local_steps + e;
    const std::optional<double> price = clients_.begin(k, step);
    if (!price) break;
    const double length = settings_.length(done_, step) * (factors_.empty() ? 1 : factors_[k]);
    const double eta = settings_.length(done_, step);
    const ReleaseAddress address{ReleasePath::fedavg_gradient, root_.first() + static_cast<Client>(k), step, 0};
    const Secret<Vector>& gradient = naming_client(
        address.client, step, [&]() -> auto& { return clients_.gradient(k, local_.value(), mechanism_->clip()); });
    mechanism_->release(address, *price, clients_.key(k), gradient, direction_);
    local_.update(
        [&](Vector& w, const Vector& direction) {
          if (settings_.l2 != 0) scale(1 - eta * settings_.l2, w);
          axpy(-length, direction, w);
        },
        direction_);
    stepped = true;
    root_.still_here();
  }
  return stepped;
}

/// A round without any client, as after all budgets have ended, changes nothing.
void FedAvg::average(const Vector& total) {
  const double weight = total.back();
  stepped_ = weight > 0;
  if (!stepped_) return;
  (rounding_ ? message_ : theta_).update([&](Vector& mean) {
    for (std::size_t j = 0; j + 1 < total.size(); ++j) mean[j] = total[j] / weight;
  });
  if (!rounding_) require_bounded();
}

/// θ_{t+1} = θ_t + the rounded mean update, which rank 0 has in message_.
void FedAvg::spread_update() {
  message_.update([&](Vector& message) {
    if (!stepped_ || !root_.aggregates()) std::fill(message.begin(), message.end(), 0.0);
    if (stepped_ && root_.aggregates()) {
      kept_here_.update([&](Vector& kept) { rounding_->add_kept(message, kept); });
    }
    update_.update([&](std::vector<std::byte>& bytes) { rounding_->codec().encode(message, bytes); });
  });
  root_.broadcast(update_);
  theta_.update(
      [&](Vector& theta, const std::vector<std::byte>& bytes) {
        Vector update(theta.size() + 1);
        rounding_->codec().decode(bytes, update);
        for (std::size_t j = 0; j < theta.size(); ++j) theta[j] += update[j];
      },
      update_);
  if (root_.aggregates()) require_bounded();
}

void FedAvg::require_bounded() const {
  check<DataError>(
      is_bounded(theta_.value(), clients_.largest_parameter()),
      "round {}: the model is not finite or has numbers beyond {:g}: steps are too long for these records. Take a "
      "smaller --step, fewer --local-steps, or standardise the features.",
      done_ + 1, clients_.largest_parameter());
}

void FedAvg::persist(Snapshot& snapshot) {
  AggregatedRounds::persist(snapshot);
  if (!rounding_) return;
  snapshot.of_clients(kept_);
  snapshot.of_first_rank(root_.aggregates(), kept_here_);
}

}  // namespace starling
