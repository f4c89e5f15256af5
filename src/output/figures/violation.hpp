/// The observer of long-term constraints.
#pragma once

#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "net/agreement.hpp"
#include "output/figures/constraint_figures.hpp"
#include "output/rounds.hpp"
#include "privacy/metrics_policy.hpp"
#include "protocol/constraints/energy_schedule.hpp"
#include "protocol/constraints/long_term_constraints.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// Records violations and duals of one rank's clients at recorded rounds and at the end. Violations of constraints on
/// data are metrics of private records: the policy decides whether they are shared. Duals depend on releases alone.
class ConstraintRecorder final : public Observer {
 public:
  /// The pointers are kept; each is null where there are no constraints of its kind. Figures for the owner of the
  /// records alone go to `owners_file`.
  ConstraintRecorder(const LongTermConstraints* on_models, const EnergySchedule* energy, int steps_per_round,
                     Client first, std::size_t clients, const MetricsPolicy& policy, std::string owners_file);

  void after(const RoundView& view) override;
  /// **Collective.** The figures after the last round, on rank 0. `clients` is the number of all clients.
  [[nodiscard]] ConstraintReport finish(Agreement& agreement, Round done, Client clients);
  void persist(Snapshot& snapshot) {
    snapshot(due_, rounds_);
    snapshot.of_clients(owners_totals_, records_);
  }

 private:
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] Released<Columns> violations(Round done) const;
  [[nodiscard]] Released<Columns> duals(Round done) const;
  void record(Round done);
  void note_for_owner();
  [[nodiscard]] Secret<std::string> rows_for_owner() const;
  [[nodiscard]] std::vector<Vector> sums_of_records(Agreement& agreement) const;

  const LongTermConstraints* on_models_;
  const EnergySchedule* energy_;
  int steps_per_round_;
  Client first_;
  std::size_t clients_;
  MetricsPolicy policy_;
  std::string owners_file_;
  RecordRounds due_{std::nullopt};
  std::vector<Round> rounds_;
  std::vector<Released<Vector>> records_;      ///< of each client: by record violations, duals
  std::vector<Secret<Vector>> owners_totals_;  ///< of each client: by record violations of constraints on data
};

}  // namespace starling
