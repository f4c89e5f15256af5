/// Online vertical federated learning with rank 0 as fusion centre (docs/methods/vertical.md; Wang and Xu 2023,
/// Algorithm 1).
///
/// Party k = 1, …, K has columns x_k of every record and a feature network h_k(θ_k; x_k). Rank 0 has the head θ_0 over
/// all embeddings. In round t, on M new records,
///
///   each party sends ĥ_k = Q(h_k(θ_k; x_k)); rank 0 predicts, before any label is used;
///   rank 0 sends Φ̂ = {Q(θ_0), ĥ_1, …, ĥ_K} to all;
///   every block makes E local steps θ_k ← θ_k − η_t ∇_k F with all else frozen at Φ̂.
///
/// F is the mean loss over the records, η_t = c (t + i0)^−p, t from 1. If only rank 0 knows the labels, it sends
/// ∂F/∂h_k to party k instead, and E = 1.
///
/// Under a mechanism all results from a party's columns are releases, charged to the same records: the embedding,
/// clipped record by record, and the gradient of each local step (1 + E releases a round). If labels are rank 0's
/// secret, ∂F/∂h and the head's gradient are releases too. Derivatives ignore the clipping of embeddings.
///
/// Under `--unit person` a round has m persons with R rows each, of which the first ones hold records. A record's
/// embedding is clipped to C/√R, so that those of a person have norm C at most together. A person's gradient is the
/// mean of the gradients of its records, clipped as a whole. So a person moves each release by what a record may move
/// it.
///
/// A party whose budget has ended sends zeros and learns no more. A party that is absent in a round sends nothing,
/// counts with embeddings of zeros, does not learn and pays nothing. If the budget of the labels has ended, no block
/// learns.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "codec/quantiser.hpp"
#include "core/snapshot.hpp"
#include "privacy/keys/keys.hpp"
#include "protocol/central_rounds.hpp"
#include "protocol/vertical/vertical_networks.hpp"
#include "protocol/vertical/vertical_settings.hpp"

namespace starling {

class Accounts;
class MultipartMechanism;
class VerticalStream;

/// Numbers of the parts in a MultipartMechanism.
struct VerticalParts {
  std::vector<std::size_t> sent;       ///< of each party: embeddings, or under `central` its columns
  std::vector<std::size_t> gradients;  ///< of each party's network
  std::size_t head = 0;                ///< gradient of the head, if labels are rank 0's secret, and under `central`
  std::size_t derivatives = 0;         ///< derivatives by embeddings, if labels are rank 0's secret
};

/// Adds the parts of a run to the mechanism, in the same order on all ranks; existing parts are not added again. Throws
/// UsageError if the sensitivity of a part cannot be proved.
VerticalParts add_vertical_parts(MultipartMechanism& mechanism, const VerticalArchitecture& architecture,
                                 const VerticalPlan& plan);

/// Quantisers of the messages.
struct VerticalWire {
  std::function<const Quantiser&(Round t)> embeddings;
  std::unique_ptr<Quantiser> head;
  std::unique_ptr<Quantiser> exact;  ///< for columns and derivatives: the networks' own numbers
};

/// Prediction of a record with two classes: margin of the outputs, and whether the class is the larger one.
struct Prediction {
  double margin = 0;
  bool larger = false;
  void persist(Snapshot& snapshot) { snapshot(margin, larger); }
};

/// Traffic of a round in bits of messages, payload and side information. `down` counts one broadcast.
struct RoundBits {
  double up = 0;
  double down = 0;
  void persist(Snapshot& snapshot) { snapshot(up, down); }
};

/// Vertical learning on one rank. As a RoundView it shows one client on rank 0, the head, and none elsewhere.
/// Construct, then call run() once.
class Vertical final : public CentralRounds {
 public:
  /// In the layout of `root`, and in accounts and keys, the fusion centre is client 0 and party k is client k. Messages
  /// for scores of test records pass through `evaluation`. Keeps references. **Collective.**
  Vertical(Root& root, Root& evaluation, VerticalStream& stream, Accounts& accounts, MultipartMechanism& mechanism,
           std::vector<NoiseKey> keys, const VerticalArchitecture& architecture, const TargetLoss& loss,
           VerticalWire wire, const VerticalPlan& plan);

  /// **Collective.** Throws DataError if a network is not finite after a step; that depends on released values only.
  void run(const std::vector<Observer*>& observers);

  /// Predicts held-out records that their owners have declared public, after the rounds. Each party sends its
  /// embeddings, clipped under a mechanism but without noise (under `central` its columns), quantised as in the last
  /// round. On rank 0 `look` is called for each record, and the score is that of all; other ranks return no score.
  /// `held_out` makes one pass, on all ranks over as many records. **Collective.**
  [[nodiscard]] Score predict(VerticalStream& held_out, const std::function<void(View outputs, View targets)>& look);

  /// Parameters of this rank's blocks by client: the head is client 0.
  [[nodiscard]] std::vector<std::pair<Client, Released<Vector>>> blocks() const;
  /// Bound of a record's embedding.
  [[nodiscard]] Clip embedding_clip() const { return clip_of_row(parts_.sent[0]); }
  /// Number of embeddings and gradients of records that were out of range, for each party on this rank.
  [[nodiscard]] std::vector<std::pair<Client, Secret<std::int64_t>>> out_of_range() const;
  /// The whole state between rounds, traffic included; without records, keys and accounts.
  void persist(Snapshot& snapshot);

  // On rank 0:
  /// Score of the last round's records, before their labels were used.
  [[nodiscard]] const Secret<Score>& learned() const { return learned_; }
  /// Score of the last round's test records, after its steps.
  [[nodiscard]] const Secret<Score>& tested() const { return tested_; }
  /// Traffic of the last round.
  [[nodiscard]] RoundBits bits() const { return bits_; }
  /// Traffic of all rounds.
  [[nodiscard]] RoundBits total_bits() const { return total_; }
  /// On rank 0: share of the parties' messages of 32 numbers or more in which 15 of 16 have one level of a quantiser
  /// whose bits can be chosen.
  [[nodiscard]] double share_of_one_level() const {
    return messages_looked_at_ > 0 ? static_cast<double>(of_one_level_) / static_cast<double>(messages_looked_at_) : 0;
  }
  /// On rank 0: the largest root mean square of such a message over the largest of all before it of its party; 0
  /// without any.
  [[nodiscard]] double largest_jump() const { return largest_jump_; }
  [[nodiscard]] const Secret<std::vector<Prediction>>& predictions() const { return predictions_; }

  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override;
  [[nodiscard]] View model(std::size_t) const override { return head().value(); }
  [[nodiscard]] const Played& played() const override { return played_; }

 private:
  /// A party hosted by this rank.
  struct Party {
    Client client = 0;
    std::size_t local = 0;                    ///< number among this rank's clients
    std::size_t hosted = 0;                   ///< number among this rank's parties
    std::optional<LearningBlock> block = {};  ///< none under `central`: rank 0 has it
    std::optional<double> price = {};         ///< price of the round, if the party participates
    Secret<Vector> embedding = {};            ///< M × e
    Secret<std::int64_t> out_of_range = {};   ///< number of embeddings and gradients out of range, which count as 0
    Vector derivatives = {};                  ///< ∂ℓ/∂h_k received from rank 0, M × e
    [[nodiscard]] std::size_t k() const { return static_cast<std::size_t>(client - 1); }
  };

  /// θ_0.
  [[nodiscard]] const Released<Vector>& head() const {
    return joint_ ? joint_->blocks()[0].parameters() : head_.parameters();
  }
  void host_parties(const VerticalArchitecture& architecture);
  void open_round();
  void predict();
  [[nodiscard]] bool learns() const;
  void send_back();
  void keep_in_step();
  void send_representation();
  void send_derivatives();
  void step(Round e);
  void step_head(Round e);
  void step_party(Party& party, Round e);
  void step_jointly(Round e);
  void test();
  void completed(const std::vector<Observer*>& observers);
  void show(const std::vector<Observer*>& observers);

  /// Bound of one row of a part that persons' rows enter together.
  [[nodiscard]] Clip clip_of_row(std::size_t part) const;
  /// Writes the sum of the clipped gradients of a round's records, or persons, given the derivatives by the outputs of
  /// the network's last `forward`, which was of `inputs`. Returns how many were out of range.
  std::size_t sum_gradients(NetworkBlock& network, View parameters, View inputs, View d_outputs, const Clip& clip,
                            Vector& gradient) const;
  void embed(Party& party, const Secret<Vector>& inputs, std::size_t first, std::size_t count);
  /// Sets rows_ to what a party makes of records first, …, first + count − 1 of its columns, clipped under a mechanism:
  /// embeddings, or under `central` the columns.
  void make_rows(Party& party, const Secret<Vector>& inputs, std::size_t first, std::size_t count);
  /// Release of a party for its records first, …, first + count − 1: their embeddings, count × e, or under `central`
  /// its columns.
  const Released<Vector>& contribution(Party& party, std::size_t first, std::size_t count);
  /// Releases the records of rows_ from `first` on, at most those of a full round, of `width` numbers each, and appends
  /// them to sent_.
  void release_rows(std::size_t part, std::size_t width, std::size_t first, const ReleaseAddress& address, double price,
                    const NoiseKey& key);
  /// Sends all parties' contributions to rank 0 through `root`.
  void collect(Root& root, std::size_t first, std::size_t count);
  void open_messages(std::size_t count, std::span<const std::byte> bytes);
  void join_embeddings();
  void look_at_levels();
  [[nodiscard]] Score score(View targets);
  [[nodiscard]] const Quantiser& up_quantiser() const;
  /// Numbers of a record that each party sends.
  [[nodiscard]] std::vector<std::size_t> sent_widths() const;
  /// Lengths of the contributions of clients 0, 1, ….
  [[nodiscard]] std::vector<std::size_t> up_lengths(std::size_t count) const;
  [[nodiscard]] std::size_t parties() const { return widths_.size(); }
  [[nodiscard]] ReleaseAddress address(ReleasePath path, Client u, Round index) const {
    return {path, u, done_, static_cast<std::uint32_t>(index)};
  }

  Root& evaluation_;
  VerticalStream& stream_;
  Accounts& accounts_;
  MultipartMechanism& mechanism_;
  std::vector<NoiseKey> keys_;
  const TargetLoss& loss_;
  VerticalWire wire_;
  VerticalPlan plan_;
  Precision precision_;
  std::size_t width_;                ///< e
  std::vector<std::size_t> widths_;  ///< columns of each party

  std::vector<Party> parties_;
  LearningBlock head_;  ///< learns on rank 0 only
  HeadLoss head_loss_;
  VerticalParts parts_;
  std::optional<double> head_price_;   ///< if labels are released
  std::optional<JointNetwork> joint_;  ///< on rank 0 under `central`

  std::size_t records_ = 0;  ///< M of this round
  Released<std::vector<std::byte>> messages_;
  Released<std::vector<std::byte>> representation_;
  Released<std::vector<std::byte>> nothing_;
  Released<Vector> theta_hat_;   ///< θ̂_0
  Vector embeddings_;            ///< ĥ, M × K e
  std::vector<Vector> columns_;  ///< what each party has sent: under `central` its columns
  Secret<Vector> rows_;
  Secret<Vector> block_;  ///< m records of rows_
  Released<Vector> released_;
  Released<Vector> sent_;
  Released<Vector> direction_;
  Secret<Vector> gradient_;
  Secret<std::vector<Vector>> joint_gradients_;
  Secret<Vector> frozen_;  ///< ĥ with a party's own current embedding
  Secret<Vector> d_embeddings_;
  Secret<Vector> d_own_;

  RoundBits bits_;
  RoundBits total_;
  std::int64_t messages_looked_at_ = 0;
  std::int64_t of_one_level_ = 0;
  Vector largest_sent_;  ///< root mean square of a message of each party
  double largest_jump_ = 0;
  Secret<Score> learned_;
  Secret<Score> tested_;
  Secret<std::vector<Prediction>> predictions_;
  Played played_;
};

}  // namespace starling
