/// Decentralized, differentially private online mirror descent (docs/methods/decentralized.md; dissertation, chapters 2
/// and 5, corrected).
///
/// The protocol holds a Mixer only: it has no way to an aggregator.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "data/stream.hpp"
#include "mirror/mirror.hpp"
#include "mirror/positive_coordinates.hpp"
#include "privacy/keys/keys.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "protocol/decentralized/settings.hpp"
#include "protocol/observer.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

class Accounts;
class LongTermConstraints;
class Mechanism;
class Model;

/// The steps Σ η that are due to the clients of one rank. Where rounds are in step, one step is due in each round.
/// Otherwise one step is due for each round of the fastest client, so that clients of any speed count the same.
///
/// Call begin_round() in each round, then due(); after the last round call write_off().
class DueSteps {
 public:
  DueSteps(const StepSchedule& schedule, Round rounds) : schedule_(schedule), rounds_(rounds) {}

  /// Starts a round. `clock` is the number of rounds that the fastest known client has begun.
  void begin_round(Round clock);
  /// Σ η of the steps that are due in this round.
  [[nodiscard]] double due() const { return due_; }
  /// The worth of one owed step: where steps fall to zero that of a step now, since later steps of others have made
  /// those of before count for less. Else Σ η itself is owed, and this is 1.
  [[nodiscard]] double worth() const { return schedule_.falls_to_zero() ? schedule_.step_at(credited_ - 1) : 1; }
  /// Whether steps have fallen so far that a debt is written off: the others' steps could not answer its repayment.
  [[nodiscard]] bool forgives() const { return schedule_.falls_to_zero() && 10 * worth() < schedule_.first_step(); }
  /// Rounds of the clock that are due or taken.
  [[nodiscard]] Round credited() const { return credited_; }
  /// Whether the other ranks ended so far ahead that this rank steps no more.
  [[nodiscard]] bool too_late() const { return too_late_; }
  /// After the last round: Σ η of missed rounds that no step will make up for.
  [[nodiscard]] double write_off(Round clock);
  /// Makes no step due for rounds before `end`.
  void leave_out(Round end);
  void persist(Snapshot& snapshot) { snapshot(credited_); }

 private:
  void begin_after_absence(Round clock);
  [[nodiscard]] bool is_answered(double steps) const;
  [[nodiscard]] double repayment();

  StepSchedule schedule_;
  Round rounds_;
  Round credited_ = 0;
  double due_ = 0;
  double late_ = 0;  ///< Σ η of rounds that this rank has missed and not made up for
  bool too_late_ = false;
};

/// Step debts of the clients of one rank: no step is longer than κ η_1, and a client owes the rest. Debts and credits
/// count in Σ η, or in steps where these fall to zero (DueSteps::worth).
class StepDebt {
 public:
  /// `longest` is κ η_1.
  StepDebt(std::size_t clients, double longest)
      : longest_(longest), debt_(clients, 0.0), credit_(clients, 0.0), forgone_(clients, 0.0) {}

  /// Length of the step that client k takes at mass w, when `due` is due in this round and an owed step is worth
  /// `worth`. 0 without mass.
  [[nodiscard]] double take(std::size_t k, double due, double w, double worth = 1);
  /// Gives up the debt of client k, whose learning has ended.
  void forgive(std::size_t k);
  /// Credits client k with steps that it will not take.
  void credit_untaken(std::size_t k, double steps);

  /// Debt of each client.
  [[nodiscard]] View debts() const { return debt_; }
  /// The credit of each client: everything that was ever added to the debt.
  [[nodiscard]] View credits() const { return credit_; }
  /// Steps taken / steps credited of client k, in [0, 1]. NaN if none were credited.
  [[nodiscard]] double effective_weight(std::size_t k) const;
  void persist(Snapshot& snapshot) { snapshot.of_clients(debt_, credit_, forgone_); }

 private:
  double longest_;
  Vector debt_;
  Vector credit_;
  Vector forgone_;  ///< credit that will never be taken
};

/// The parts by which a rank's clients learn from their streams; absent in a run that only averages (`--loss none`).
struct Learning {
  Model& model;
  Mechanism& mechanism;
  Accounts& accounts;                            ///< of the local clients
  std::vector<NoiseKey> keys;                    ///< one per local client
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per local client
  LongTermConstraints* constraints = nullptr;    ///< null in a run without constraints
  Vector factors = {};                           ///< of each client's noisy mean gradient; empty: 1 for all
};

/// The clients of one rank. Construct, perhaps restore by persist(), then call run() once; the other members report.
class DecentralizedOmd final : public RoundView {
 public:
  /// `start` has a column (a model, d entries) per local client. Keeps references to the mixer and the mirror map.
  DecentralizedOmd(Mixer& mixer, MirrorMap& mirror, std::optional<Learning> learning, const OmdSettings& settings,
                   Released<Columns> start);

  /// Plays settings.rounds rounds, or fewer if a signal stops the run. Where rounds are not in step, a slow client
  /// plays fewer rounds. Its steps make up for the rounds that it missed while the others step too. Missing steps then
  /// lower its effective weight.
  void run(const std::vector<Observer*>& observers);

  [[nodiscard]] Round done() const override { return due_.credited(); }
  /// Numbers of a model.
  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  /// Rounds that this rank has played; fewer than done() if it was slower than others.
  [[nodiscard]] Round played_rounds() const { return played_rounds_; }
  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override;
  [[nodiscard]] View model(std::size_t k) const override { return mirror_.model(holdings_.state.value()[k], shown_); }
  [[nodiscard]] bool stepped(std::size_t k) const override { return stepped_[k] != 0; }
  [[nodiscard]] View masses() const override { return holdings_.mass; }
  /// Those of all local clients, in a run that learns.
  [[nodiscard]] std::span<const std::unique_ptr<Stream>> streams() const { return learning_->streams; }
  [[nodiscard]] Standing standing(std::size_t k) const override;
  [[nodiscard]] double mass_in_flight(std::size_t k) const override { return mixer_.in_flight(k); }
  [[nodiscard]] std::span<const Arrival> arrivals() const override { return mixer_.arrivals(); }
  [[nodiscard]] const Played& played() const override { return played_; }
  [[nodiscard]] const StepSchedule& schedule() const { return settings_; }
  /// Step debt of each client.
  [[nodiscard]] View debts() const { return debt_.debts(); }
  /// Step debt of each client, in steps of the first round.
  [[nodiscard]] Vector debts_in_first_steps() const;
  /// Credit of each client (StepDebt), over the rounds in which it was to take a step.
  [[nodiscard]] View credits() const { return debt_.credits(); }
  /// Steps taken / steps credited of local client k, in [0, 1]. NaN if none were credited.
  [[nodiscard]] double effective_weight(std::size_t k) const { return debt_.effective_weight(k); }
  /// Whether the other ranks ended so far ahead that this rank took none of the steps that it owed.
  [[nodiscard]] bool was_too_late() const { return due_.too_late(); }
  [[nodiscard]] const TimeShares& time_shares() const { return shares_; }
  /// The whole state between rounds, mixer and duals included; without streams, keys, graph and accounts.
  void persist(Snapshot& snapshot);
  /// Says which local clients are lost, for a run that goes on without them. Their attendance is `gone`.
  void set_lost(std::vector<char> lost) { lost_ = std::move(lost); }
  /// After persist(), when clients have changed: those that are not lost begin anew at mass 1 with the models that they
  /// have. The others have no mass, and NaN for a model (docs/methods/decentralized.md, "Lost clients").
  void begin_anew();
  /// Local client k, which joins, begins with this model.
  void begin_at(std::size_t k, const Released<Vector>& model);
  /// Skips the rounds before `end` that have not been played. Step lengths go by the number of the round.
  void leave_out(Round end);

 private:
  [[nodiscard]] bool begin_round();
  [[nodiscard]] bool may_step(std::size_t k);
  /// Whether client k releases in this round while it has records: it is present, or steps while absent.
  [[nodiscard]] bool takes_part(std::size_t k) const;
  [[nodiscard]] std::optional<double> pay(std::size_t k, Round t);
  [[nodiscard]] View model_to_play(std::size_t k);
  void play(std::size_t k, Round t, View x, const Secret<Batch>& batch);
  ReleaseAddress add_noise(std::size_t k, Round t, double price);
  void release_zeros(std::size_t k, Round t);
  void release(std::size_t k, Round t, View x, const Secret<Batch>& batch, double price);
  void step(std::size_t k);
  template <class Mix>
  void keeping_positive(Mix&& mix);
  void close(Stopwatch& watch);
  void write_off();
  [[nodiscard]] bool is_lost(std::size_t k) const { return !lost_.empty() && lost_[k] != 0; }
  [[nodiscard]] Client client(std::size_t k) const { return mixer_.first() + static_cast<Client>(k); }
  [[nodiscard]] double factor(std::size_t k) const { return learning_->factors.empty() ? 1 : learning_->factors[k]; }

  Mixer& mixer_;
  MirrorMap& mirror_;
  std::optional<Learning> learning_;
  OmdSettings settings_;
  std::size_t dimension_;

  Round played_rounds_ = 0;
  bool closed_ = false;  ///< whether close() has followed the last round
  DueSteps due_;
  StepDebt debt_;
  Holdings holdings_;
  std::vector<Released<Vector>> mixed_;  ///< states of their last exchange, of clients that were absent since
  PositiveCoordinates positive_;         ///< of runs that learn: averaging alone takes no logarithms
  std::vector<char> lost_;               ///< whether client k is lost; empty if none is
  std::vector<char> learns_;             ///< whether client k was to take a step when it was last asked
  std::vector<char> stepped_;            ///< whether client k took a step in the last round
  Played played_;
  Secret<Vector> gradient_;          ///< Σ of clipped gradients of the current client
  Released<Vector> noisy_gradient_;  ///< ĝ of the current client
  Vector scratch_;
  mutable Vector shown_;
  TimeShares shares_;
};

}  // namespace starling
