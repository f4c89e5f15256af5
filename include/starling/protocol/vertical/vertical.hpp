/// Online vertical federated learning with rank 0 as fusion centre (Wang and Xu 2023, Algorithm 1; method 5).
///
/// Party k = 1, …, K has some columns x_k of every record and a feature network h_k(θ_k; x_k), rank 0 has the head θ_0
/// over all embeddings. In round t, on M new records,
///
///   each party sends ĥ_k = Q(h_k(θ_k; x_k)); rank 0 predicts, before any label is used;
///   rank 0 sends Φ̂ = {Q(θ_0), ĥ_1, …, ĥ_K} to all;
///   for E local steps every block goes θ_k ← θ_k − η_t ∇_k F with all else frozen at Φ̂,
///
/// F being the mean over the records of the loss, η_t = c (t + i0)^−p, t from 1. Where rank 0 alone knows the labels it
/// sends party k ∂F/∂h_k instead, and E = 1.
///
/// Under a mechanism everything that a party makes of its columns is released, and charged to the same records: the
/// embedding, each record's clipped, and each local step's gradient (1 + E releases a round). So are ∂F/∂h and the
/// head's gradient where labels are rank 0's secret. What is clipped is differentiated as if it were not.
///
/// A party whose budget has ended sends zeros and learns no more; if that of the labels has, nobody learns.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "starling/codec/quantiser.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/data/vertical/vertical.hpp"
#include "starling/net/root/root.hpp"
#include "starling/privacy/ledger/accounts.hpp"
#include "starling/privacy/mechanism/multipart_mechanism.hpp"
#include "starling/protocol/decentralized/mixing.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/protocol/vertical/vertical_networks.hpp"
#include "starling/protocol/vertical/vertical_parts.hpp"

namespace starling {

/// Who knows the labels.
enum class LabelHolders { all, head };

struct VerticalPlan {
  Round rounds = 1;
  Round local_steps = 1;  ///< E
  LabelHolders labels = LabelHolders::all;
  bool central = false;             ///< baseline: columns go to rank 0, which learns all blocks jointly
  std::optional<Round> lazy_after;  ///< baseline: nobody learns after so many rounds
  double step = 0.03;               ///< c
  double step_power = 0;            ///< p
  double step_offset = 0;           ///< i0
  double embedding_clip = 1;        ///< of a record's embedding, under a mechanism
  std::size_t batch = 1;            ///< m, public
  bool keeps_predictions = false;   ///< for the ROC curve
  [[nodiscard]] double step_of(Round t) const;
};

/// How numbers travel.
struct VerticalWire {
  std::function<const Quantiser&(Round t)> embeddings;
  std::unique_ptr<Quantiser> head;
  std::unique_ptr<Quantiser> exact;  ///< columns, and derivatives by embeddings: the networks' own numbers
};

/// Of a record with two classes: what the outputs said, and its class (0 or 1).
struct Prediction {
  double margin = 0;
  bool larger = false;
  void persist(Snapshot& snapshot) { snapshot(margin, larger); }
};

/// What moved in a round, in bits of messages (payload and side information); `down` is one broadcast.
struct RoundBits {
  double up = 0;
  double down = 0;
  void persist(Snapshot& snapshot) { snapshot(up, down); }
};

/// On rank 0 one client is to be seen, the head; elsewhere none.
class Vertical final : public RoundView {
 public:
  /// `root`'s layout has the fusion centre as client 0 and party k as client k, as do accounts and keys; scores of test
  /// records pass `evaluation`, a door of the same kind. Keeps references. **Collective.**
  Vertical(Root& root, Root& evaluation, VerticalStream& stream, Accounts& accounts, MultipartMechanism& mechanism,
           std::vector<NoiseKey> keys, const VerticalArchitecture& architecture, const TargetLoss& loss,
           VerticalWire wire, const VerticalPlan& plan);

  /// **Collective.** Throws DataError if a network is not finite after a step, which depends on released values alone.
  void run(const std::vector<Observer*>& observers);

  /// Parameters of this rank's blocks by client: the head is client 0.
  [[nodiscard]] std::vector<std::pair<Client, Released<Vector>>> blocks() const;
  /// Embeddings and gradients of records of each party here that were out of range.
  [[nodiscard]] std::vector<std::pair<Client, Secret<std::int64_t>>> out_of_range() const;
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }
  /// All that rounds depend on but records, keys and accounts; what has passed the doors included.
  void persist(Snapshot& snapshot);

  // Rank 0's:
  /// Of the last round, before its labels were used; and of its test records, after them.
  [[nodiscard]] const Secret<Score>& learned() const { return learned_; }
  [[nodiscard]] const Secret<Score>& tested() const { return tested_; }
  [[nodiscard]] RoundBits bits() const { return bits_; }         ///< of the last round
  [[nodiscard]] RoundBits total_bits() const { return total_; }  ///< of all
  [[nodiscard]] const Secret<std::vector<Prediction>>& predictions() const { return predictions_; }

  [[nodiscard]] Round done() const override { return done_; }
  [[nodiscard]] Released<Columns> models() const override;
  [[nodiscard]] View model(std::size_t) const override { return head().value(); }
  [[nodiscard]] bool stepped(std::size_t) const override { return stepped_; }
  [[nodiscard]] View masses() const override { return ones_; }
  [[nodiscard]] bool was_present(std::size_t) const override { return true; }
  [[nodiscard]] double mass_in_flight() const override { return 0; }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return {}; }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return tallies_; }
  [[nodiscard]] const std::vector<Secret<double>>& played() const override { return played_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const override { return rounds_played_; }

 private:
  /// A party that lives on this rank.
  struct Party {
    Client client = 0;
    std::size_t local = 0;                    ///< number among this rank's clients
    std::size_t hosted = 0;                   ///< and among its parties
    std::optional<LearningBlock> block = {};  ///< under `central` rank 0 has it
    std::optional<double> price = {};         ///< of the round, if it takes part
    Secret<Vector> embedding = {};            ///< M × e
    Secret<std::int64_t> out_of_range = {};   ///< embeddings and gradients of records that were, and so were 0
    Vector derivatives = {};                  ///< ∂ℓ/∂h_k that has come from rank 0, M × e
    [[nodiscard]] std::size_t k() const { return static_cast<std::size_t>(client - 1); }
  };

  /// θ_0.
  [[nodiscard]] const Released<Vector>& head() const {
    return joint_ ? joint_->blocks()[0].parameters() : head_.parameters();
  }
  void host_parties(const VerticalArchitecture& architecture);
  [[nodiscard]] bool goes_on();
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

  void embed(Party& party, std::size_t first, std::size_t count);
  /// What a party says of its records first … first + count − 1: their embeddings, count × e, or under `central` its
  /// columns.
  const Released<Vector>& contribution(Party& party, std::size_t first, std::size_t count);
  /// The records of rows_ from `first` on, at most m of them and `width` numbers each, to the end of sent_.
  void release_rows(std::size_t part, std::size_t width, std::size_t first, const ReleaseAddress& address, double price,
                    const NoiseKey& key);
  /// All parties' contributions to rank 0, through `door`.
  void collect(Root& door, std::size_t first, std::size_t count);
  void open_messages(const std::vector<std::size_t>& lengths, std::span<const std::byte> bytes);
  [[nodiscard]] Score score(View targets);
  [[nodiscard]] const Quantiser& up_quantiser() const;
  /// Numbers of each client's contribution, from client 0.
  [[nodiscard]] std::vector<std::size_t> up_lengths(std::size_t count) const;
  [[nodiscard]] std::size_t parties() const { return widths_.size(); }
  [[nodiscard]] ReleaseAddress address(ReleasePath path, Client u, Round index) const {
    return {path, u, done_, static_cast<std::uint32_t>(index)};
  }
  /// f(), whose time counts as that share; what has passed since counts as exchange.
  template <class F>
  decltype(auto) timed(double TimeShares::*share, F&& f) {
    watch_.lap(shares_.exchange);
    const Lap lap{watch_, shares_.*share};
    return std::forward<F>(f)();
  }
  struct Lap {
    Stopwatch& watch;
    double& seconds;
    ~Lap() { watch.lap(seconds); }
  };

  Root& root_;
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
  LearningBlock head_;  ///< learns on rank 0 alone
  HeadLoss head_loss_;
  VerticalParts parts_;
  std::optional<double> head_price_;   ///< where labels are released
  std::optional<JointNetwork> joint_;  ///< rank 0's under `central`

  Round done_ = 0;
  std::size_t records_ = 0;  ///< M of the round
  bool stepped_ = false;
  Released<std::vector<std::byte>> messages_;
  Released<std::vector<std::byte>> representation_;
  Released<std::vector<std::byte>> nothing_;
  Released<Vector> theta_hat_;   ///< θ̂_0
  Vector embeddings_;            ///< ĥ, M × K e
  std::vector<Vector> columns_;  ///< of each party, under `central`
  Secret<Vector> rows_;
  Secret<Vector> block_;  ///< m of their records
  Released<Vector> released_;
  Released<Vector> sent_;
  Released<Vector> direction_;
  Secret<Vector> gradient_;
  Secret<std::vector<Vector>> joint_gradients_;
  Secret<Vector> frozen_;  ///< Φ̂ with a party's own embedding
  Secret<Vector> d_embeddings_;
  Secret<Vector> d_own_;

  RoundBits bits_;
  RoundBits total_;
  Secret<Score> learned_;
  Secret<Score> tested_;
  Secret<std::vector<Prediction>> predictions_;
  TimeShares shares_;
  Stopwatch watch_{false};
  Vector ones_;
  std::vector<Secret<Score>> tallies_;
  std::vector<Secret<double>> played_;
  std::vector<RoundSet> rounds_played_;
};

}  // namespace starling
