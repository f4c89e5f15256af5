// Estimates of canaries under correlated noise.
#include <map>

#include "chain_filter.hpp"
#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "privacy/audit/one_run.hpp"

namespace starling {

namespace {

constexpr int most_steps = 300;
constexpr double sign_tolerance = 1e-6;  ///< of the residual, in its first norm: signs need no more

/// The releases of one client.
class ClientEstimates {
 public:
  ClientEstimates(const NoiseCorrelation& correlation, double noise, std::vector<Round> rounds)
      : correlation_(correlation), ridge_(noise * noise), rounds_(std::move(rounds)) {}

  /// x of (Cᵀ C + n² I) x = Cᵀ C y by conjugate gradients (Hestenes and Stiefel 1952), n > 0. Any approximation is an
  /// estimate, so it stops after a few hundred steps.
  [[nodiscard]] Vector estimate(const Vector& y) const {
    Vector x(y.size(), 0.0);
    Vector residual = multiplied(y);
    Vector direction = residual;
    double squares = dot(residual, residual);
    const double enough = sign_tolerance * sign_tolerance * squares;
    for (int k = 0; k < most_steps && squares > enough; ++k) {
      Vector image = multiplied(direction);
      axpy(ridge_, direction, image);
      const double length = squares / dot(direction, image);
      axpy(length, direction, x);
      axpy(-length, image, residual);
      const double next = dot(residual, residual);
      scale(next / squares, direction);
      axpy(1, residual, direction);
      squares = next;
    }
    return x;
  }

 private:
  /// Cᵀ C v.
  [[nodiscard]] Vector multiplied(const Vector& v) const {
    Vector result(v.size());
    ChainFilter forward(correlation_);
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = forward.next(rounds_[i], v[i]);
    ChainFilter backward(correlation_);
    for (std::size_t i = v.size(); i-- > 0;) result[i] = backward.next(rounds_[i], result[i]);
    return result;
  }

  NoiseCorrelation correlation_;
  double ridge_;
  std::vector<Round> rounds_;
};

}  // namespace

CanaryLog estimated_canaries(CanaryLog log, const std::optional<NoiseCorrelation>& correlation) {
  if (!correlation) return log;
  const std::size_t n = log.signs.size();
  check(log.seen.size() == n && log.clients.size() == n && log.rounds.size() == n && (n == 0 || log.noise > 0),
        "{} canaries, {} releases, {} clients, {} rounds and noise {}: correlated noise needs all of each release.", n,
        log.seen.size(), log.clients.size(), log.rounds.size(), log.noise);
  std::map<Client, std::vector<std::size_t>> by_client;
  for (std::size_t i = 0; i < n; ++i) by_client[log.clients[i]].push_back(i);
  CanaryLog estimates;
  for (const auto& [client, releases] : by_client) {
    Vector y;
    std::vector<Round> rounds;
    for (const std::size_t i : releases) {
      y.push_back(log.seen[i]);
      rounds.push_back(log.rounds[i]);
    }
    const double mean = sum(y) / static_cast<double>(y.size());
    for (double& value : y) value -= mean;  // what the other records of the batches have in common
    const Vector x = ClientEstimates(*correlation, log.noise, std::move(rounds)).estimate(y);
    for (std::size_t k = 0; k < releases.size(); ++k) {
      if (log.signs[releases[k]] == 0) continue;
      estimates.signs.push_back(log.signs[releases[k]]);
      estimates.seen.push_back(x[k]);
    }
  }
  return estimates;
}

}  // namespace starling
