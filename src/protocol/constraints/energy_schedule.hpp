/// The energy constraint: a client sends only while its budget's dual allows (docs/methods/constraints.md,
/// "Constraints").
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "graph/schedule.hpp"
#include "protocol/constraints/constraint_set.hpp"

namespace starling {

/// A schedule without the messages that clients cannot afford.
///
/// Each client has an account λ, 0 before the first round. In a round it sends to all its out-neighbours only if λ = 0,
/// and then λ ← max(0, λ + spent − budget). (Any dual step ρ > 0 gives the same sends.) λ grows by at least
/// spent − budget, so Σ spent ≤ budget T + λ_T, and λ never exceeds the cost of one round. A client that does not send
/// keeps its mass, and receives the messages of others.
///
/// Accounts alone would be periodic. On a graph that repeats, some edge might then never be used. So a client that has
/// been silent tosses a public coin in each round from when it can send again until it does.
///
/// Accounts depend on the clients' own rows of the graph only. Every receiver works out the accounts of its
/// in-neighbours, so it knows which of them send: O(degree) per round and client, if rounds ascend.
class EnergySchedule final : public Schedule {
 public:
  /// Wraps `inner`, which must outlive this object. A message has `message_bytes` bytes. A round is `steps_per_round`
  /// steps of the schedule, which share its budget equally. Coins are drawn from `seed`.
  EnergySchedule(const Schedule& inner, EnergyBudget budget, std::size_t message_bytes, int steps_per_round,
                 std::uint64_t seed);

  [[nodiscard]] Client clients() const override { return inner_.clients(); }
  /// 0: accounts do not repeat.
  [[nodiscard]] Round period() const override { return 0; }
  [[nodiscard]] Links links(Client u, Round t) const override;
  [[nodiscard]] Attendance attendance(Client u, Round t) const override { return inner_.attendance(u, t); }
  [[nodiscard]] std::string digest() const override;

  [[nodiscard]] const EnergyBudget& budget() const { return budget_; }
  /// λ of client u before step t.
  [[nodiscard]] double dual(Client u, Round t) const { return account(u, t).dual; }
  /// Number of messages that client u has sent before step t.
  [[nodiscard]] std::int64_t messages(Client u, Round t) const { return account(u, t).messages; }
  /// Σ c of client u before step t: spending less budget.
  [[nodiscard]] double violation(Client u, Round t) const;

 private:
  struct Account {
    Round step = 0;  ///< the account is the state before this step
    double dual = 0;
    std::int64_t messages = 0;
    bool resting = false;                               ///< whether it has been silent and has not sent since
    std::optional<std::int64_t> degree = std::nullopt;  ///< number of out-neighbours, if it never changes
  };
  [[nodiscard]] const Account& account(Client u, Round t) const;
  [[nodiscard]] std::int64_t degree(Client u, Account& account) const;
  [[nodiscard]] bool sends(Client u, const Account& account) const;

  const Schedule& inner_;
  EnergyBudget budget_;
  double message_cost_;
  double budget_of_step_;
  std::uint64_t seed_;
  mutable std::unordered_map<Client, Account> accounts_;  ///< of the clients asked about so far
};

}  // namespace starling
