#include "starling/protocol/aggregated/ldp_sgd.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/numerics/gram.hpp"
#include "starling/core/numerics/kernels.hpp"
#include "starling/core/sized.hpp"

namespace starling {

namespace {

/// Squares of it, which intervals are made of, are finite still.
constexpr double largest_coordinate = 1e150;

}  // namespace

LdpSgd::LdpSgd(Root& root, AggregatedClients& clients, const LdpSgdSettings& settings, const Released<Vector>& start,
               Mechanism& mechanism, PlugInSums* plug_in, double price)
    : AggregatedRounds(root, clients, start),
      clients_(clients),
      settings_(settings),
      mechanism_(mechanism),
      clip_(mechanism.clip()),
      lengths_(settings.step, settings.step_power, settings.step_offset),
      plug_in_(plug_in),
      contribution_([this](std::size_t k) -> const Released<Vector>& { return answer(k); }),
      length_(start.value().size() + 1),
      message_(declare_public(Vector())),
      sum_(declare_public(Vector())) {
  if (!settings.follow_bias) return;
  const std::size_t d = start.value().size();
  length_ += triangle_size(d);
  // The mean over K clients has less noise than one client's curvature.
  bias_.emplace(d, plug_in->curvature_noise(price) / std::sqrt(static_cast<double>(root.clients())));
}

// Algorithm 1 of the paper, with several clients.
void LdpSgd::run(const std::vector<Observer*>& observers) {
  begin(observers);
  while (goes_on(settings_.steps)) {
    root_.sum(length_, contribution_, sum_);     // 1. noisy estimating functions
    if (root_.aggregates()) step(sum_.value());  // 2. θ_i
    root_.broadcast(theta_);
    completed();
  }
}

void LdpSgd::persist(Snapshot& snapshot) {
  AggregatedRounds::persist(snapshot);
  snapshot(inverse_clients_, taken_);
  if (bias_) snapshot(*bias_);
  if (plug_in_ != nullptr) snapshot(*plug_in_);
}

const Released<Vector>& LdpSgd::answer(std::size_t k) {
  const std::optional<double> price = clients_.begin(k, done_);
  if (!price) {
    message_.update([&](Vector& message) { message.assign(length_, 0.0); });
    return message_;
  }
  const ReleaseAddress address{ReleasePath::infer_direction, root_.first() + static_cast<Client>(k), done_, 0};
  mechanism_.release(address, *price, clients_.key(k), clients_.gradient(k, theta_.value(), clip_), message_);
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

// A round without any client, as while streams end unequally, is no step.
void LdpSgd::step(const Vector& sum) {
  const std::size_t d = theta_.value().size();
  const double clients = sum[d];
  stepped_ = clients > 0;
  if (!stepped_) return;
  if (bias_ && done_ >= settings_.burn_in) {
    triangle_.assign(sum.begin() + static_cast<std::ptrdiff_t>(d + 1), sum.end());
    scale(1 / clients, triangle_);
    bias_->add(triangle_, theta_.value());
  }
  const double factor = -lengths_.at(done_ + 1) / clients;
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
  check<DataError>(wild == 0,
                   "step {}: the model is not finite (steps are too long for these records) take a smaller --step, a "
                   "larger --step-offset, or standardise the features",
                   done_ + 1);
}

std::optional<BiasEstimate> LdpSgd::bias() const {
  if (!bias_) return std::nullopt;
  std::optional<BiasEstimate> bias = bias_->estimate();
  // Not all took part in every step.
  if (bias) scale(std::sqrt(mean_inverse_clients() * static_cast<double>(root_.clients())), bias->noise);
  return bias;
}

double LdpSgd::mean_inverse_clients() const {
  return taken_ == 0 ? 1 : inverse_clients_ / static_cast<double>(taken_);
}

}  // namespace starling
