/// Federated averaging with rank 0 as aggregator (McMahan, Moore, Ramage, Hampson and Agüera y Arcas 2017,
/// "Communication-efficient learning of deep networks from decentralized data", Algorithm 1; dissertation, section
/// 5.5), over streams and with noise in each client.
///
/// In round t rank 0 sends θ_t. Every client k starts there and makes E local steps on its next E batches,
///
///   w ← w − η_t (ĝ(w) + λw),  η_t = c (t + i0)^{−p}, t from 1,
///
/// where ĝ is the noisy mean of the clipped gradients of a batch: a release, and paid for. Then only its local model,
/// which is made of releases, leaves it, and θ_{t+1} = Σ n_k w_k / Σ n_k over the clients that made a step.
///
/// Local step e of round t (both from 0 here) is on batch tE + e of the client's stream, and that number is the round
/// of its release: prices, budgets, ledgers and `rounds_played` count local steps, `done` and what observers record
/// count rounds. Tallies hold what each local model scored on the batch that it was about to learn from.
#pragma once

#include <functional>

#include "starling/protocol/aggregated/aggregated_rounds.hpp"

namespace starling {

struct FedAvgSettings {
  Round rounds = 1;
  Round local_steps = 1;    ///< E
  double step = 1;          ///< c
  double step_power = 0.5;  ///< p
  double step_offset = 0;   ///< i0
  double l2 = 0;  ///< λ of the penalty (λ/2)‖w‖², added after the release since it depends on no record
};

class FedAvg final : public AggregatedRounds {
 public:
  /// `start` is θ_0; `weights` are n_k of the local clients, public, above 0 for all that have records. Keeps
  /// references.
  FedAvg(Root& root, AggregatedClients& clients, const FedAvgSettings& settings, const Released<Vector>& start,
         Mechanism& mechanism, Vector weights);
  /// Throws DataError naming the round in which the model ceases to be finite.
  void run(const std::vector<Observer*>& observers) override;

 private:
  /// (n_k w_k, n_k) of local client k after its local steps, or zeros of a client that makes none.
  [[nodiscard]] const Released<Vector>& answer(std::size_t k);
  /// Whether client k made a local step; its model is local_ then. One whose stream or budget ends stops there.
  [[nodiscard]] bool learn(std::size_t k);
  void average(const Vector& total);

  AggregatedClients& clients_;
  FedAvgSettings settings_;
  Mechanism& mechanism_;
  Vector weights_;
  std::function<const Released<Vector>&(std::size_t k)> contribution_;
  Released<Vector> direction_;  ///< ĝ of the client at work
  Released<Vector> local_;      ///< w of the client at work
  Released<Vector> message_;
  Released<Vector> total_;
};

}  // namespace starling
