#include "protocol/aggregated/ldp_sgd.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "core/sized.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"

namespace starling {

namespace {

/// Bound on the model's coordinates, whose squares (intervals use them) are still finite.
constexpr double largest_coordinate = 1e150;

}  // namespace

LdpSgd::LdpSgd(Root& root, AggregatedClients& clients, const LdpSgdSettings& settings, const Released<Vector>& start,
               Mechanism& mechanism, PlugInSums* plug_in, double price, Vector factors)
    : AggregatedRounds(root, clients, start, &mechanism),
      clients_(clients),
      settings_(settings),
      clip_(mechanism.clip()),
      plug_in_(plug_in),
      factors_(std::move(factors)),
      contribution_([this](std::size_t k) -> const Released<Vector>& { return noisy_direction(k); }),
      length_(start.value().size() + 1),
      message_(declare_public(Vector())),
      sum_(declare_public(Vector())) {
  if (!settings.follow_bias) return;
  const std::size_t d = start.value().size();
  length_ += triangle_size(d);
  // The mean over K clients has less noise than one client's curvature.
  bias_.emplace(d, plug_in->curvature_noise(price) / std::sqrt(static_cast<double>(root.clients())));
}

// Xie et al., Algorithm 1, with several clients (docs/methods/inference.md, "Estimator").
void LdpSgd::run(const std::vector<Observer*>& observers) {
  begin(observers, settings_.first_round);
  while (goes_on(settings_.steps)) {
    root_.sum(length_, contribution_, sum_);     // 1. Σ_k ĝ_k, ĝ_k = mean of Ψ(θ_{i−1}, z) + noise
    if (root_.aggregates()) step(sum_.value());  // 2. θ_i = θ_{i−1} − γ_i · mean_k ĝ_k
    root_.broadcast(theta_);
    completed();
  }
}

void LdpSgd::persist(Snapshot& snapshot) {
  AggregatedRounds::persist(snapshot);
  snapshot.of_first_rank(root_.aggregates(), inverse_clients_, taken_);
  if (bias_) snapshot.of_first_rank(root_.aggregates(), *bias_);
  if (plug_in_ != nullptr) snapshot(*plug_in_);
}

/// The message (ĝ_k, 1) of client k, with the noisy mean of Ψ̇ if the bias is followed; zeros if it does not
/// participate.
const Released<Vector>& LdpSgd::noisy_direction(std::size_t k) {
  const std::optional<double> price = clients_.begin(k, done_);
  if (!price) {
    message_.update([&](Vector& message) { message.assign(length_, 0.0); });
    return message_;
  }
  const ReleaseAddress address{ReleasePath::infer_direction, root_.first() + static_cast<Client>(k), done_, 0};
  mechanism_->release(address, *price, clients_.key(k), clients_.gradient(k, theta_.value(), clip_), message_);
  if (!factors_.empty()) message_.update([&](Vector& direction) { scale(factors_[k], direction); });
  const bool counts = done_ >= settings_.burn_in;
  if (plug_in_ != nullptr && counts) plug_in_->add(k, address, *price, theta_.value(), message_);
  if (bias_ && counts) plug_in_->last_curvature(triangle_);
  message_.update([&](Vector& message) {
    message.push_back(1);
    if (!bias_) return;
    if (counts) message.insert(message.end(), triangle_.begin(), triangle_.end());
    message.resize(length_);  // no curvatures during the burn-in
  });
  return message_;
}

/// A round without any client, as when streams end unequally, is no step.
void LdpSgd::step(const Vector& sum) {
  const std::size_t d = theta_.value().size();
  const double clients = sum[d];
  stepped_ = clients > 0;
  if (!stepped_) return;
  if (bias_ && done_ >= settings_.burn_in) follow_bias(sum, clients);
  const double factor = -settings_.power_step_at(done_) / clients;
  std::int64_t wild = 0;
  theta_.update([&](Vector& theta) {
    sized(d, [&wild, factor, to = theta.data(), direction = sum.data()](auto n) {
      for (std::size_t j = 0; j < n; ++j) {
        to[j] += factor * direction[j];
        wild |= std::abs(to[j]) < largest_coordinate ? 0 : 1;
      }
    });
  });
  if (done_ >= settings_.burn_in) {
    inverse_clients_ += 1 / clients;
    ++taken_;
  }
  check<DataError>(
      wild == 0,
      "step {}: the model is not finite: steps are too long for these records. Take a smaller --step, a larger "
      "--step-offset, or standardise the features.",
      done_ + 1);
}

/// Adds this step's mean curvature at θ_{i−1}.
void LdpSgd::follow_bias(const Vector& sum, double clients) {
  triangle_.assign(sum.begin() + static_cast<std::ptrdiff_t>(theta_.value().size() + 1), sum.end());
  scale(1 / clients, triangle_);
  bias_->add(triangle_, theta_.value());
}

std::optional<BiasEstimate> LdpSgd::bias() const {
  if (!bias_) return std::nullopt;
  std::optional<BiasEstimate> bias = bias_->estimate();
  // Not all clients participated in every step.
  if (bias) scale(std::sqrt(mean_inverse_clients() * static_cast<double>(root_.clients())), bias->noise);
  return bias;
}

double LdpSgd::mean_inverse_clients() const {
  return taken_ == 0 ? 1 : inverse_clients_ / static_cast<double>(taken_);
}

}  // namespace starling
