/// How long-term constraints were kept: cumulative violations Σ_t Σ_u c_u,t(x_u,t) and duals, at recorded rounds and at
/// the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/agreement.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/protocol/constraints/energy_schedule.hpp"
#include "starling/protocol/constraints/long_term_constraints.hpp"
#include "starling/protocol/observer.hpp"
#include "starling/record/directory/run_directory.hpp"
#include "starling/record/rounds.hpp"
#include "starling/regret/growth.hpp"

namespace starling {

/// One constraint in one run.
struct ConstraintFigures {
  std::string name;
  bool on_data = false;             ///< it depends on records
  std::optional<double> violation;  ///< Σ_t Σ_u c over all clients; none where withheld
  double dual_mean = 0;             ///< of λ or Q over clients
  double dual_max = 0;
  std::optional<GrowthFit> growth;  ///< of the violation; none where it is not positive over the last decade of rounds
};

/// All of them at some rounds. Violations are NaN where they are withheld.
struct ViolationCurve {
  std::vector<std::string> names;
  std::vector<Round> rounds;
  std::vector<Vector> violations;  ///< by record, then by constraint; over all clients
  std::vector<Vector> dual_means;
  std::vector<Vector> dual_maxima;
};

struct ConstraintReport {
  std::vector<ConstraintFigures> constraints;
  ViolationCurve curve;
};

/// Records one rank's clients. Violations of constraints on data are metrics of private records: they are shared as the
/// policy says, or not at all. Duals are functions of what was released.
class ConstraintRecorder final : public Observer {
 public:
  /// Null where there are no constraints of the kind. Keeps the pointers. The owner's own figures go to `owners_file`.
  ConstraintRecorder(const LongTermConstraints* on_models, const EnergySchedule* energy, int steps_per_round,
                     Client first, std::size_t clients, const MetricsPolicy& policy, std::string owners_file);

  void after(const RoundView& view) override;
  /// After the last round; figures are on rank 0. `clients` is the number of all. **Collective.**
  [[nodiscard]] ConstraintReport finish(Agreement& agreement, Round done, Client clients);
  void persist(Snapshot& snapshot) { snapshot(owners_rows_, due_, rounds_, records_); }

 private:
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] Released<Columns> violations(Round done) const;
  [[nodiscard]] Released<Columns> duals(Round done) const;
  void record(Round done);
  void note_for_owner(Round done);

  const LongTermConstraints* on_models_;
  const EnergySchedule* energy_;
  int steps_per_round_;
  Client first_;
  std::size_t clients_;
  MetricsPolicy policy_;
  std::string owners_file_;
  Secret<std::string> owners_rows_;
  RecordRounds due_{std::nullopt};
  std::vector<Round> rounds_;
  Released<Vector> records_;  ///< of this rank: by record Σ violations, Σ duals, largest duals
};

}  // namespace starling
