/// The energy constraint: a client sends only while its budget's dual allows (method 2, "Constraints").
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "starling/graph/schedule.hpp"
#include "starling/protocol/constraints/constraint.hpp"

namespace starling {

/// A schedule with the sends left out that clients cannot afford.
///
/// Each client has an account: before the first round λ = 0; in a round it sends to all its out-neighbours only if
/// λ = 0, and then λ ← max(0, λ + spent − budget). (Any dual step ρ > 0 gives the same sends.) Since λ grows by no less
/// than spent − budget, Σ spent ≤ budget T + λ_T, and λ never exceeds the cost of one round: what a client spends in
/// the long run is its budget and a constant. A client that does not send keeps its mass, and receives what others
/// send.
///
/// Accounts alone would be periodic and could keep step with a graph that repeats, so that some edge would never be
/// used: a client that has had to be silent therefore tosses a public coin in each round from when it could send again
/// until it does.
///
/// Accounts depend on the clients' own rows of the graph alone, so that every receiver knows who sends by working the
/// accounts of its in-neighbours out: O(degree) for each round and client asked about, if rounds ascend.
class EnergySchedule final : public Schedule {
 public:
  /// Over `inner`, which must outlive this. A message has `message_bytes` bytes; a round is `steps_per_round` steps of
  /// the schedule, which share its budget equally; coins are drawn from `seed`.
  EnergySchedule(const Schedule& inner, EnergyBudget budget, std::size_t message_bytes, int steps_per_round,
                 std::uint64_t seed);

  [[nodiscard]] Client clients() const override { return inner_.clients(); }
  /// Never the same again: accounts do not repeat.
  [[nodiscard]] Round period() const override { return 0; }
  [[nodiscard]] Links links(Client u, Round t) const override;
  [[nodiscard]] Attendance attendance(Client u, Round t) const override { return inner_.attendance(u, t); }
  [[nodiscard]] std::string digest() const override;

  [[nodiscard]] const EnergyBudget& budget() const { return budget_; }
  /// λ of client u before step t.
  [[nodiscard]] double dual(Client u, Round t) const { return account(u, t).dual; }
  /// Messages that client u has sent before step t.
  [[nodiscard]] std::int64_t messages(Client u, Round t) const { return account(u, t).messages; }
  /// Σ c of client u before step t: what it has spent less what it was allowed to.
  [[nodiscard]] double violation(Client u, Round t) const;

 private:
  struct Account {
    Round step = 0;  ///< what follows is the state before this step
    double dual = 0;
    std::int64_t messages = 0;
    bool resting = false;                               ///< has been silent, and has not sent since
    std::optional<std::int64_t> degree = std::nullopt;  ///< out-neighbours, where they never change
  };
  [[nodiscard]] const Account& account(Client u, Round t) const;
  [[nodiscard]] std::int64_t degree(Client u, Account& account) const;
  [[nodiscard]] bool sends(Client u, const Account& account) const;

  const Schedule& inner_;
  EnergyBudget budget_;
  double message_cost_;
  double budget_of_step_;
  std::uint64_t seed_;
  mutable std::unordered_map<Client, Account> accounts_;  ///< of clients asked about
};

}  // namespace starling
