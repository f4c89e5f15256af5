/// Vertical learning of a linear model on additive shares, with rank 0 as dealer (docs/methods/shares.md).
///
/// Party k = 1, …, K has the columns x_k of every record, and w_k, its part of the model; one party has the labels.
/// Once, each party sends E_k = X_k − A_k to all others. In a round, over all n records:
///
///   the dealer sends the last party its correction;
///   each party sends its share of u − a, u = (Σ_k X_k w_k) / T, to all others; so e = u − a is open;
///   each makes its share of P(a + e) from shares of powers of a, and sends its share of y + r; so c = y + r is open;
///   each makes its share of the slope s from c, and sends its share of s − b; so f = s − b is open;
///   each sends party k its share of X_k'f + (E_k + A_k)'b with noise, for every k ≠ its own;
///   party k opens ĝ_k = (X_k's + noise)/n, and steps: v_k ← m v_k + ĝ_k, w_k ← proj(w_k − η v_k), ‖w_k‖ <= B_k.
///
/// With C outputs, one for each class, u, s and w_k have a row for each. The columns of w_k have a mean of 0 over
/// outputs after each step, and its norm is at most B_k √(C/(C − 1)), so that each row's is at most B_k.
///
/// The first `SharedSteps::scale_rounds` rounds have noisy histograms of each party's columns instead, which the party
/// alone looks at: those of all parties are one release of the round's price.
///
/// The dealer adds its noise to the correction. What is learned is the mean of w_k over the second half of the rounds.
/// Where a party's budget has ended, nobody learns any more.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/snapshot.hpp"
#include "data/constants.hpp"
#include "privacy/shares/share_holder.hpp"
#include "privacy/shares/share_keys.hpp"
#include "protocol/central_rounds.hpp"
#include "protocol/vertical/column_scales.hpp"
#include "protocol/vertical/vertical_settings.hpp"

namespace starling {

class Accounts;
class Peers;
class TargetLoss;
class VerticalStream;

/// The data of a party that this rank hosts.
struct SharedData {
  Secret<Vector> rows;    ///< n × d_k, row after row; NaN for what is missing
  Secret<Vector> labels;  ///< empty without labels
  /// Under unit person: for each row the number of records of its person that take part, 0 where there is no record.
  std::vector<std::size_t> records_of_person = {};
  std::vector<std::size_t> numbers = {};  ///< places in a row of the columns that may be standardised, ascending
  /// Constants of its first columns, where they are known before the rounds; others stay as they are.
  std::vector<Standardisation> scales = {};
  Standardisation label_scale = {};  ///< of labels that are numbers

  /// Takes constants of the columns that are `numbers`, and then of its labels if `has_label`.
  void take_scales(std::vector<Standardisation> found, bool has_label);
};

/// The data of a rank's parties, read from the stream in one pass. The party with the labels, numbered from 0 among
/// all, has a last column of ones, for the intercept. `first` is this rank's first party.
[[nodiscard]] std::vector<SharedData> shared_data(VerticalStream& stream, std::size_t first,
                                                  const std::vector<std::size_t>& columns, std::size_t labels_at,
                                                  const TargetLoss& loss);

/// The parameters of a dense layer that adds the parties' scores, output by output: weights, then biases of 0.
[[nodiscard]] Vector sum_of_scores(std::size_t parties, std::size_t outputs);

/// Learning on shares on one rank. As a RoundView it shows one client on rank 0, the constant sum of the parties'
/// scores, and none elsewhere. Construct, then call run() once.
class SharedLearning final : public CentralRounds {
 public:
  /// In the layout of `root` and `peers`, and in accounts and keys, the dealer is client 0 and party k is client k.
  /// `prices` gives the price of a round. Messages of held-out records pass through `evaluation`. Keeps references.
  SharedLearning(Root& root, Root& evaluation, Peers& peers, Accounts& accounts, SharedGaussian& mechanism,
                 std::function<double(Round)> prices, std::vector<NoiseKey> keys, ShareKeys share_keys,
                 const SharesTerms& terms, const std::vector<SharedData>& data, const TargetLoss& loss,
                 const SharedSteps& steps);

  /// **Collective.**
  void run(const std::vector<Observer*>& observers);

  /// Predicts held-out records that their owners have declared public, after the rounds: each party sends its part of
  /// the score. On rank 0 `look` is called for each record, with the label standardised by `label_scale`, and the score
  /// is that of all; other ranks return no score. **Collective.**
  [[nodiscard]] Score predict(VerticalStream& held_out, const Standardisation& label_scale,
                              const std::function<void(View outputs, View targets)>& look);

  /// The model of each party on this rank, by client: for each output weights of its columns, then, at the party with
  /// the labels, the intercept.
  [[nodiscard]] std::vector<std::pair<Client, Released<Vector>>> parts() const;
  /// The constants by which each party on this rank has standardised its first columns; others stay as they are.
  [[nodiscard]] std::vector<std::pair<Client, std::vector<Standardisation>>> scales() const;
  /// The columns of each party on this rank, among those that are standardised, whose deviation its histograms do not
  /// show; the last may be its labels.
  [[nodiscard]] std::vector<std::pair<Client, std::vector<std::size_t>>> unresolved() const;
  /// The constants of labels that are numbers, on the rank of their party; none elsewhere.
  [[nodiscard]] std::optional<Standardisation> label_scale() const;
  /// Number of rows and labels out of bounds, for each party on this rank.
  [[nodiscard]] std::vector<std::pair<Client, Secret<std::int64_t>>> clipped() const;
  /// The whole state between rounds, traffic included; without records, keys and accounts.
  void persist(Snapshot& snapshot);

  [[nodiscard]] Released<Columns> some_models(std::size_t, std::size_t count) const override {
    return declare_public(Columns(sum_of_scores_, count));
  }
  [[nodiscard]] View model(std::size_t) const override { return sum_of_scores_; }
  [[nodiscard]] const Played& played() const override { return played_; }

 private:
  /// A party that this rank hosts.
  struct Party {
    Client client;
    std::size_t local;  ///< number among this rank's clients
    SharedData data;
    /// The sum of histograms that were released.
    struct Histograms {
      Vector counts;
      double variance = 0;  ///< of the noise on one of them
      [[nodiscard]] ColumnSights sights() const { return {counts, std::sqrt(variance)}; }
    };
    Histograms octaves;
    Histograms within;  ///< the ranges that octaves have shown
    ColumnSights sights;
    ShareHolder holder;
    Released<Vector> w;
    Released<Vector> velocity;
    Released<Vector> sum;  ///< of w over the rounds of the mean
    [[nodiscard]] std::size_t k() const { return static_cast<std::size_t>(client - 1); }
  };
  /// The steps of a round that send words, for pads.
  enum class Step : std::uint32_t { correction, arguments, slopes, factors, gradients, rows };
  /// Words from each other party, in ascending order of parties.
  using OfOthers = std::vector<std::vector<Word>>;

  [[nodiscard]] std::size_t parties() const { return terms_.shape.parties(); }
  [[nodiscard]] bool everybody_pays();
  [[nodiscard]] bool has_numbers(std::size_t k) const { return terms_.residual && k == terms_.labels_at; }
  [[nodiscard]] bool is_scaled() const { return static_cast<Round>(scaled_in_.size()) >= steps_.scale_rounds; }
  /// Releases histograms of this rank's parties, for the round with this number among those that do.
  void release_counts(std::size_t number);
  /// Takes the rows as they are to be, and sends them.
  void begin_learning();
  void send_rows();
  void play_round();
  /// The correction of the round, at the last party; empty elsewhere.
  [[nodiscard]] std::vector<Word> deal();
  /// Each party sends `words(party)`, so many, to all others. Returns what each party on this rank receives.
  [[nodiscard]] std::vector<OfOthers> open_among_all(Step step, std::size_t count,
                                                     const std::function<Masked(Party&)>& words);
  void open_gradients();
  [[nodiscard]] Released<Vector> opened_gradient(const Party& party, OfOthers shares) const;
  void step(Party& party, const Released<Vector>& gradient);
  [[nodiscard]] Vector final_model(const Party& party) const;
  [[nodiscard]] ReleaseAddress address(Client u, std::size_t of) const {
    return {ReleasePath::vertical_shared_gradient, u, done_, static_cast<std::uint32_t>(of)};
  }
  void completed(const std::vector<Observer*>& observers);
  void show(const std::vector<Observer*>& observers);

  Root& evaluation_;
  Peers& peers_;
  Accounts& accounts_;
  SharedGaussian& mechanism_;
  std::function<double(Round)> prices_;
  std::vector<NoiseKey> keys_;
  ShareKeys share_keys_;
  const SharesTerms& terms_;
  const TargetLoss& loss_;
  SharedSteps steps_;
  std::vector<Party> parties_;
  std::vector<Round> scaled_in_;       ///< rounds that have released histograms
  std::optional<NoisyDealer> dealer_;  ///< on rank 0
  Vector sum_of_scores_;
  Played played_;
};

}  // namespace starling
