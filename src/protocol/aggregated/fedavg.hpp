/// Federated averaging with rank 0 as aggregator (McMahan, Moore, Ramage, Hampson and Agüera y Arcas 2017,
/// "Communication-efficient learning of deep networks from decentralized data", Algorithm 1; dissertation, section
/// 5.5), over streams and with noise in each client.
///
/// In round t rank 0 sends θ_t. Every client k starts from w = θ_t and makes E local steps on its next E batches:
///
///   w ← w − η_t (ĝ(w) + λw),      η_t = c (t + i0)^{−p}, t from 1.
///
/// Steps that fall along a line fall with each local step: local step s of S in all, from 0, has c (1 − s/S).
/// ĝ is the noisy mean of the clipped gradients over the client's mean batch; each is a release and has a price. Only
/// the local model,
/// which is made of releases, leaves the client. Rank 0 forms θ_{t+1} = Σ n_k w_k / Σ n_k over the clients that made a
/// step.
///
/// Where clients' records differ, their local steps drift apart. Two variants change each step by what has been
/// released already, so prices are the same:
///
///   proximal (FedProx; Li, Sahu, Zaheer, Sanjabi, Talwalkar and Smith 2020)   w ← w − η_t (ĝ(w) + λw + μ(w − θ_t))
///   controls (SCAFFOLD; Karimireddy, Kale, Mohri, Reddi, Stich and Suresh 2020, option II)
///                                                                            w ← w − η_t (ĝ(w) + λw + c − c_k)
///
/// c_k is the mean of client k's directions ĝ(w) + λw in its last round, and c = Σ n_k c_k / Σ n_k. Both begin at 0.
/// Then a message has c_k beside w_k, and rank 0 sends c beside θ.
///
/// With another precision than `double` messages are updates in few bits, with error feedback on both ways: client k
/// sends n_k (w_k − θ_t) and what rounding has kept of its earlier messages, and rank 0 sends the mean update likewise.
/// All ranks add the rounded update to θ_t.
///
/// Local step e of round t, both counted from 0, uses batch tE + e of the client's stream. That number is the round of
/// its release: prices, budgets, ledgers and played() count local steps, done() and observers count rounds.
/// Tallies hold the score of each local model on the batch that it learns from next.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "codec/codec.hpp"
#include "model/squared_penalty.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"
#include "protocol/aggregated/fedavg_settings.hpp"

namespace starling {

/// Codec of messages in few bits, with error feedback (docs/methods/decentralized.md, "Compressed messages"; Seide, Fu,
/// Droppo, Li and Yu 2014): the sender adds what rounding took from its messages before. So all that was ever sent
/// differs from all that was to be sent by one rounding. The last number of a message, a weight, is not rounded.
class ErrorFeedback {
 public:
  /// `how` names a quantiser.
  explicit ErrorFeedback(const std::string& how) : codec_(make_model_codec(how)) {}

  [[nodiscard]] const Codec& codec() const { return *codec_; }
  /// Adds what the sender has kept, one number less than the message has, to `message`, and keeps what the encoding
  /// takes from it. Throws DataError if rounding makes a number infinite.
  void add_kept(MutableView message, MutableView kept) const;

 private:
  std::unique_ptr<Codec> codec_;
};

/// Federated averaging of the clients of all ranks. Construct, then call run() once.
class FedAvg final : public AggregatedRounds {
 public:
  /// `start` is θ_0. `weights` are the public n_k of the local clients, above 0 for all that have records. `factors`
  /// make a release, which is a sum over m, the mean over a batch of N_k/T records; none: 1 for all. Keeps references.
  FedAvg(Root& root, AggregatedClients& clients, const FedAvgSettings& settings, const Released<Vector>& start,
         Mechanism& mechanism, Vector weights, Vector factors = {});
  /// Throws DataError naming the round in which the model ceases to be finite.
  void run(const std::vector<Observer*>& observers) override;
  /// Controls and what rounding has kept included.
  void persist(Snapshot& snapshot) override;

 private:
  [[nodiscard]] const Released<Vector>& weighted_update(std::size_t k);
  [[nodiscard]] bool update_client(std::size_t k);
  void step_locally(std::size_t k, double eta);
  void average(const Vector& total);
  void spread_update();
  void require_bounded(View model) const;

  AggregatedClients& clients_;
  FedAvgSettings settings_;
  Vector weights_;
  Vector factors_;
  std::function<const Released<Vector>&(std::size_t k)> contribution_;
  Released<Vector> common_;     ///< what rank 0 sends: θ, with controls followed by c
  Released<Columns> controls_;  ///< c_k of each local client; empty without controls
  Released<Vector> direction_;  ///< ĝ of the current client
  Released<Vector> local_;      ///< likewise w, with controls followed by the sum of its directions, or c_k
  Released<Vector> message_;
  Released<Vector> total_;
  std::optional<ErrorFeedback> rounding_;  ///< if messages have few bits
  Released<Columns> kept_;                 ///< of what each local client has sent, by rounding
  Released<Vector> kept_here_;             ///< on rank 0: of the updates that it has sent
  Released<std::vector<std::byte>> update_;
};

}  // namespace starling
