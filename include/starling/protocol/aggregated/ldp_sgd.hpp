/// Stochastic gradient descent under local differential privacy with rank 0 as aggregator (method 4; Xie, Shi, Jiang,
/// Kong and He, "Online differentially private inference in stochastic gradient descent", section 3).
///
/// In step i every client takes its next m records, forms the mean of Ψ(θ_{i−1}, z) over them, adds its own noise, and
/// only that leaves it. Rank 0 goes θ_i = θ_{i−1} − γ_i · (mean over the clients that took part), γ_i = γ (i +
/// i0)^{−α}.
#pragma once

#include <functional>

#include "starling/inference/curvature_bias.hpp"
#include "starling/protocol/aggregated/aggregated_rounds.hpp"
#include "starling/protocol/aggregated/plug_in_sums.hpp"
#include "starling/protocol/step_lengths.hpp"

namespace starling {

struct LdpSgdSettings {
  Round steps = 1;
  double step = 1;           ///< γ
  double step_power = 0.51;  ///< α
  double step_offset = 0;    ///< i0
  bool follow_bias = false;  ///< send each step's released curvature too, for the bias of the average
  Round burn_in = 0;         ///< steps whose curvatures do not count: the average leaves them out too
};

class LdpSgd final : public AggregatedRounds {
 public:
  /// `start` is θ_0, `plug_in` may be null. Keeps references.
  /// `price` is that of a step, by which the noise on curvatures is known (the first, where they differ).
  LdpSgd(Root& root, AggregatedClients& clients, const LdpSgdSettings& settings, const Released<Vector>& start,
         Mechanism& mechanism, PlugInSums* plug_in, double price);
  void run(const std::vector<Observer*>& observers) override;

  /// Mean over the steps so far that count of 1/(clients that took part); rank 0's.
  [[nodiscard]] double mean_inverse_clients() const;
  /// The curvature bias of the average as it is known by now, on rank 0 where it is followed.
  [[nodiscard]] std::optional<BiasEstimate> bias() const;

  void persist(Snapshot& snapshot) override;

 private:
  /// (noisy mean of Ψ, 1, and where the bias is followed noisy mean of Ψ̇), or zeros of a client that takes no part.
  [[nodiscard]] const Released<Vector>& answer(std::size_t k);
  void step(const Vector& sum);

  AggregatedClients& clients_;
  LdpSgdSettings settings_;
  Mechanism& mechanism_;
  Clip clip_;  ///< the mechanism's
  StepLengths lengths_;
  PlugInSums* plug_in_;
  std::function<const Released<Vector>&(std::size_t k)> contribution_;
  std::size_t length_;  ///< of a message
  Released<Vector> message_;
  Released<Vector> sum_;
  double inverse_clients_ = 0;  ///< Σ over steps of 1/(clients that took part)
  std::optional<CurvatureBias> bias_;
  Vector triangle_;  ///< of the client or step at work
  Round taken_ = 0;  ///< steps in which somebody did
};

}  // namespace starling
