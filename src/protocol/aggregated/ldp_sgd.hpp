/// Stochastic gradient descent under local differential privacy with rank 0 as aggregator (docs/methods/inference.md,
/// "Estimator"; Xie, Shi, Jiang, Kong and He, "Online differentially private inference in stochastic gradient descent",
/// section 3).
///
/// In step i every client forms the mean of the directions Ψ(θ_{i−1}, z) over its next m records and adds its own
/// noise. Only that leaves the client. Rank 0 steps along the mean over the clients that participate:
///
///   θ_i = θ_{i−1} − γ_i · mean_k ĝ_k,      γ_i = γ (i + i0)^{−α}.
#pragma once

#include <functional>

#include "inference/curvature_bias.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"
#include "protocol/aggregated/ldp_sgd_settings.hpp"
#include "protocol/aggregated/plug_in_sums.hpp"

namespace starling {

/// Descent over the clients of all ranks. Construct, then call run() once; the other members report.
class LdpSgd final : public AggregatedRounds {
 public:
  /// `start` is θ_0; `plug_in` may be null. `price` is the price of the first step, which fixes the noise on
  /// curvatures. `factors` are public, one for each local client's ĝ_k; empty: 1 for all, as `plug_in` needs. Keeps
  /// references.
  LdpSgd(Root& root, AggregatedClients& clients, const LdpSgdSettings& settings, const Released<Vector>& start,
         Mechanism& mechanism, PlugInSums* plug_in, double price, Vector factors = {});
  void run(const std::vector<Observer*>& observers) override;

  /// On rank 0: mean of 1/(number of participating clients) over the steps after the burn-in.
  [[nodiscard]] double mean_inverse_clients() const;
  /// On rank 0, if follow_bias is set: the curvature bias of the average, as estimated so far.
  [[nodiscard]] std::optional<BiasEstimate> bias() const;

  void persist(Snapshot& snapshot) override;

 private:
  [[nodiscard]] const Released<Vector>& noisy_direction(std::size_t k);
  void step(const Vector& sum);
  void follow_bias(const Vector& sum, double clients);

  AggregatedClients& clients_;
  LdpSgdSettings settings_;
  Clip clip_;  ///< the mechanism's
  PlugInSums* plug_in_;
  Vector factors_;
  std::function<const Released<Vector>&(std::size_t k)> contribution_;
  std::size_t length_;  ///< numbers in a message
  Released<Vector> message_;
  Released<Vector> sum_;
  double inverse_clients_ = 0;  ///< Σ over steps of 1/(number of participating clients)
  std::optional<CurvatureBias> bias_;
  Vector triangle_;  ///< curvature of the current client or step
  Round taken_ = 0;  ///< steps with a participating client
};

}  // namespace starling
