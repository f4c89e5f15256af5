#include "protocol/aggregated/fedavg.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"
#include "protocol/bounded_model.hpp"
#include "protocol/naming_client.hpp"

namespace starling {

void ErrorFeedback::add_kept(MutableView message, MutableView kept) const {
  for (std::size_t j = 0; j < kept.size(); ++j) message[j] += kept[j];
  std::vector<std::byte> bytes(codec_->bytes(message.size()));
  Vector received(message.size());
  codec_->encode(message, bytes);
  codec_->decode(bytes, received);
  for (std::size_t j = 0; j < kept.size(); ++j) {
    kept[j] = message[j] - received[j];
    check<DataError>(std::isfinite(kept[j]),
                     "an update has numbers that --message-precision cannot hold. Choose float32 or double, or scale "
                     "the features.");
  }
}

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
      common_(start),
      controls_(declare_public(Columns())),
      direction_(declare_public(Vector(start.value().size()))),
      local_(start),
      message_(declare_public(Vector())),
      total_(declare_public(Vector())),
      kept_(declare_public(Columns())),
      kept_here_(declare_public(Vector())),
      update_(declare_public(std::vector<std::byte>())) {
  const std::size_t d = start.value().size();
  const std::size_t length = settings.controls ? 2 * d : d;
  common_.update([&](Vector& common) { common.resize(length); });
  message_ = declare_public(Vector(length + 1));
  if (settings.controls) controls_ = declare_public(Columns(d, clients.count()));
  if (settings.precision == "double") return;
  rounding_.emplace(settings.precision);
  kept_ = declare_public(Columns(length, clients.count()));
  kept_here_ = declare_public(Vector(length));
  update_ = declare_public(std::vector<std::byte>(rounding_->codec().bytes(length + 1)));
}

// McMahan et al. 2017, Algorithm 1, with all clients in each round.
void FedAvg::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on(settings_.rounds)) {
    // Σ n_k w_k and Σ n_k, w_k = ClientUpdate(k, θ_t)
    root_.sum(message_.value().size(), contribution_, total_, rounding_ ? rounding_->codec() : plain_codec());
    if (root_.aggregates()) average(total_.value());  // θ_{t+1} = Σ n_k w_k / Σ n_k
    rounding_ ? spread_update() : root_.broadcast(common_);
    theta_.update([](Vector& theta, const Vector& common) { std::copy_n(common.begin(), theta.size(), theta.begin()); },
                  common_);
    completed();
  }
}

/// The message (n_k w_k, n_k) of client k, or (n_k (w_k − θ_t), n_k) to be rounded; zeros if it made no local step.
/// With controls c_k follows w_k.
const Released<Vector>& FedAvg::weighted_update(std::size_t k) {
  const double weight = update_client(k) ? weights_[k] : 0;
  message_.update(
      [&](Vector& message, const Vector& w, const Vector& common) {
        for (std::size_t j = 0; j < w.size(); ++j) message[j] = weight * (rounding_ ? w[j] - common[j] : w[j]);
        message.back() = weight;
      },
      local_, common_);
  if (rounding_ && weight > 0) {
    message_.update(
        [&](Vector& message) { kept_.update([&](Columns& kept) { rounding_->add_kept(message, kept[k]); }); });
  }
  return message_;
}

/// ClientUpdate(k, θ_t): E local steps from θ_t, or as many as the stream and the budget allow. Whether there was one;
/// the result is local_.
bool FedAvg::update_client(std::size_t k) {
  const std::size_t d = theta_.value().size();
  local_ = common_;
  local_.update([d](Vector& local) { std::fill(local.begin() + static_cast<std::ptrdiff_t>(d), local.end(), 0.0); });
  Round steps = 0;
  for (; steps < settings_.local_steps; ++steps) {
    const Round step = done_ * settings_.local_steps + steps;
    const std::optional<double> price = clients_.begin(k, step);
    if (!price) break;
    const ReleaseAddress address{ReleasePath::fedavg_gradient, root_.first() + static_cast<Client>(k), step, 0};
    const Secret<Vector>& gradient = naming_client(
        address.client,
        step, [&]() -> auto& { return clients_.gradient(k, View(local_.value()).first(d), mechanism_->clip()); });
    mechanism_->release(address, *price, clients_.key(k), gradient, direction_);
    step_locally(k, settings_.length(done_, step));
    root_.still_here();
  }
  if (settings_.controls && steps > 0) {
    local_.update([&](Vector& local) {
      const MutableView own = MutableView(local).subspan(d);
      scale(1 / static_cast<double>(steps), own);
      controls_.update([&](Columns& controls) { controls.set(k, own); });
    });
  }
  return steps > 0;
}

/// One step of the current client, k, along ĝ.
void FedAvg::step_locally(std::size_t k, double eta) {
  const double factor = factors_.empty() ? 1 : factors_[k];
  local_.update(
      [&](Vector& local, const Vector& direction, const Vector& common, const Columns& controls) {
        const std::size_t d = direction.size();
        const MutableView w = MutableView(local).first(d);
        Vector drift(settings_.proximal > 0 || settings_.controls ? d : 0);
        for (std::size_t j = 0; j < drift.size(); ++j) {
          drift[j] = settings_.proximal * (w[j] - common[j]);
          if (!settings_.controls) continue;
          drift[j] += common[d + j] - controls[k][j];
          local[d + j] += factor * direction[j];
        }
        if (settings_.controls) settings_.l2.add_gradient(1, w, MutableView(local).subspan(d));
        settings_.l2.shrink(eta, w);
        axpy(-eta * factor, direction, w);
        if (!drift.empty()) axpy(-eta, drift, w);
      },
      direction_, common_, controls_);
}

/// A round without any client, as after all budgets have ended, changes nothing.
void FedAvg::average(const Vector& total) {
  const double weight = total.back();
  stepped_ = weight > 0;
  if (!stepped_) return;
  (rounding_ ? message_ : common_).update([&](Vector& mean) {
    for (std::size_t j = 0; j + 1 < total.size(); ++j) mean[j] = total[j] / weight;
  });
  Vector model = theta_.value();
  for (std::size_t j = 0; j < model.size(); ++j) {
    model[j] = rounding_ ? model[j] + message_.value()[j] : common_.value()[j];
  }
  require_bounded(model);
}

/// θ_{t+1} = θ_t + the rounded mean update, which rank 0 has in message_; c likewise.
void FedAvg::spread_update() {
  message_.update([&](Vector& message) {
    if (!stepped_ || !root_.aggregates()) std::fill(message.begin(), message.end(), 0.0);
    if (stepped_ && root_.aggregates()) {
      kept_here_.update([&](Vector& kept) { rounding_->add_kept(message, kept); });
    }
    update_.update([&](std::vector<std::byte>& bytes) { rounding_->codec().encode(message, bytes); });
  });
  root_.broadcast(update_);
  common_.update(
      [&](Vector& common, const std::vector<std::byte>& bytes) {
        Vector update(common.size() + 1);
        rounding_->codec().decode(bytes, update);
        for (std::size_t j = 0; j < common.size(); ++j) common[j] += update[j];
      },
      update_);
}

void FedAvg::require_bounded(View model) const {
  check<DataError>(
      is_bounded(model, clients_.largest_parameter()),
      "round {}: the model is not finite or has numbers beyond {:g}: steps are too long for these records. Take a "
      "smaller --step, fewer --local-steps, or standardise the features.",
      done_ + 1, clients_.largest_parameter());
}

void FedAvg::persist(Snapshot& snapshot) {
  AggregatedRounds::persist(snapshot);
  snapshot(common_);
  if (settings_.controls) snapshot.of_clients(controls_);
  if (!rounding_) return;
  snapshot.of_clients(kept_);
  snapshot.of_first_rank(root_.aggregates(), kept_here_);
}

}  // namespace starling
