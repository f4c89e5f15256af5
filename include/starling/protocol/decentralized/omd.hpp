/// Decentralized, differentially private online mirror descent (method 1; dissertation, chapters 2 and 5, corrected).
///
/// The protocol holds the peer-to-peer door only: it cannot reach an aggregator.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/data/stream.hpp"
#include "starling/mirror/mirror.hpp"
#include "starling/mirror/positive_coordinates.hpp"
#include "starling/privacy/ledger/accounts.hpp"
#include "starling/protocol/constraints/constraints.hpp"
#include "starling/protocol/decentralized/mixing.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/protocol/watchers.hpp"

namespace starling {

struct OmdSettings {
  Round rounds = 1;
  double step = 1;          ///< c in η_t = c / (t + i0)^p, t from 1
  double step_power = 0.5;  ///< p
  double step_offset = 0;   ///< i0
  double step_cap = 1;      ///< κ: no step exceeds κ times the first round's (step debt)
  /// What a client does in a round that it sits out.
  enum class Absent { steps, freezes } absent = Absent::steps;
  double l2 = 0;  ///< λ of the penalty (λ/2)‖x‖², added after the release since it depends on no record
};

/// How a rank's clients learn from their streams; absent where the run only averages (`--loss none`).
struct Learning {
  Model& model;
  Mechanism& mechanism;
  Accounts& accounts;                            ///< of the local clients
  std::vector<NoiseKey> keys;                    ///< one per local client
  std::vector<std::unique_ptr<Stream>> streams;  ///< likewise
  LongTermConstraints* constraints = nullptr;    ///< of a run that has some
};

/// The clients of one rank.
class DecentralizedOmd final : public RoundView {
 public:
  /// `start` has a column (a model, d entries) per local client. Keeps references to the mixer and the mirror map.
  DecentralizedOmd(Mixer& mixer, MirrorMap& mirror, std::optional<Learning> learning, const OmdSettings& settings,
                   Released<Columns> start);

  /// Plays settings.rounds rounds, or fewer if a signal stops the run. Where the mixer does not keep rounds in step, a
  /// client that is slower than the fastest plays fewer, and its steps make up for those that it has missed, as long as
  /// the others step too: nothing is repaid once the fastest has played its last round. Steps that are missing then
  /// lower the effective weight.
  void run(const std::vector<Observer*>& observers);

  [[nodiscard]] Round done() const override { return credited_; }
  /// Rounds that this rank has played; fewer than done() where it was slower than others.
  [[nodiscard]] Round played_rounds() const { return played_rounds_; }
  [[nodiscard]] Released<Columns> models() const override { return some_models(0, holdings_.mass.size()); }
  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override;
  [[nodiscard]] View model(std::size_t k) const override;
  [[nodiscard]] bool stepped(std::size_t k) const override { return stepped_[k] != 0; }
  [[nodiscard]] View masses() const override { return holdings_.mass; }
  [[nodiscard]] bool was_present(std::size_t k) const override { return mixer_.attendance(k) == Attendance::present; }
  [[nodiscard]] double mass_in_flight() const override { return mixer_.in_flight(); }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return mixer_.arrivals(); }
  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const override { return tallies_; }
  [[nodiscard]] const std::vector<Secret<double>>& played() const override { return played_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const override { return rounds_played_; }
  /// Step debt of each client; what is not yet repaid (method 1).
  [[nodiscard]] View debts() const { return debt_; }
  /// Steps credited to each client: Σ η over the rounds in which it was to take one.
  [[nodiscard]] View credits() const { return credit_; }
  /// Steps taken / steps credited of local client k, in [0, 1]: how much it counts beside a client that owes nothing.
  /// NaN where none were credited.
  [[nodiscard]] double effective_weight(std::size_t k) const;
  /// Whether this rank was so late when the others had ended that it took none of the steps that it owed.
  [[nodiscard]] bool was_too_late() const { return too_late_; }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }
  /// All that rounds depend on but streams, keys, the graph and accounts; mixer and duals included.
  void persist(Snapshot& snapshot);
  /// Rounds before `end` that have not been played will not be; step lengths go by the number of the round.
  void leave_out(Round end);

 private:
  [[nodiscard]] bool goes_on();
  [[nodiscard]] bool may_step(std::size_t k);
  /// Mixes, with the coordinates of states held positive where steps need that.
  template <class Mix>
  void keeping_positive(Mix&& mix);
  void credit();
  [[nodiscard]] bool is_answered(double step) const;
  [[nodiscard]] double repayment(double fresh);
  [[nodiscard]] double steps_between(Round begin, Round end) const;
  void write_off();
  void learn(std::size_t k, Round t);
  [[nodiscard]] double take_step_length(std::size_t k);

  Mixer& mixer_;
  MirrorMap& mirror_;
  std::optional<Learning> learning_;
  OmdSettings settings_;
  double longest_step_;  ///< at mass 1
  std::size_t dimension_;

  Round played_rounds_ = 0;  ///< by this rank
  Round credited_ = 0;       ///< rounds of the clock whose steps are owed or taken
  double owed_ = 0;          ///< Σ η that this round's step is to take
  double late_ = 0;          ///< Σ η of rounds that this rank has missed and not made up for
  bool too_late_ = false;    ///< the others have ended so far ahead that this rank steps no more
  Holdings holdings_;
  PositiveCoordinates positive_;  ///< of runs that learn: averaging alone takes no logarithms
  Vector debt_;
  Vector credit_;              ///< Σ of what was ever added to the debt
  Vector forgone_;             ///< steps that a client was credited and nobody will take any more
  std::vector<char> learns_;   ///< whether it was to take a step in the last round in which it was asked
  std::vector<char> stepped_;  ///< in the last round
  std::vector<Secret<Score>> tallies_;
  std::vector<Secret<double>> played_;
  std::vector<RoundSet> rounds_played_;
  Secret<Vector> gradient_;          ///< of the client at work: clipped, un-noised
  Released<Vector> noisy_gradient_;  ///< ĝ
  Vector scratch_;
  mutable Vector shown_;
  TimeShares shares_;
};

}  // namespace starling
