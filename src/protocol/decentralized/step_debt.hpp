/// Step debts and the steps of clients that run late (docs/methods/decentralized.md, "Step debt" and "Stragglers").
#pragma once

#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

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

}  // namespace starling
