/// What a run comes to: gathered after the last round, written as summary.json, shown as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/net/agreement.hpp"
#include "starling/net/traffic.hpp"
#include "starling/privacy/metrics_policy.hpp"
#include "starling/privacy/statement/statement.hpp"
#include "starling/protocol/decentralized/omd.hpp"
#include "starling/record/directory/run_directory.hpp"
#include "starling/record/figures/effective_weights.hpp"
#include "starling/record/figures/mass_watch.hpp"
#include "starling/record/figures/test_metrics.hpp"
#include "starling/record/figures/vertical_record.hpp"
#include "starling/record/figures/violation.hpp"
#include "starling/record/intervals/interval.hpp"
#include "starling/record/intervals/study.hpp"
#include "starling/record/network_reporter.hpp"
#include "starling/regret/regret.hpp"

namespace starling {

/// Where a run that reads pipes was taken up again: rounds `from` to before `at` may have been played on records that
/// are gone, and are not played again.
struct LeftOut {
  Round from = 0;
  Round at = 0;
  std::int64_t charged = 0;  ///< most releases among them that a client has paid for
  void persist(Snapshot& snapshot) { snapshot(from, at, charged); }
};

/// Everything that summary.json says (design/interface names the keys).
struct Summary {
  std::string command;
  std::string command_line;
  Client clients = 0;
  int ranks = 0;
  Round rounds = 0;
  Round rounds_planned = 0;
  std::size_t dimension = 0;
  std::string average = "none";  ///< which models the run ended with (Averaging)
  bool classifies = false;
  bool learned = false;                     ///< false under --loss none
  std::optional<Score> progressive;         ///< over all clients and rounds; none where withheld
  std::optional<double> last_loss;          ///< mean progressive loss of the last tenth of the recorded history
  std::optional<Score> test;                ///< summed over clients' final models
  std::optional<TestMetrics> test_metrics;  ///< of predictions on --test, if they were counted by class
  std::vector<Interval> intervals;          ///< of coefficients; of each client in turn, where they have their own
  std::optional<double> interval_records;   ///< records that they rest on, of all clients
  std::optional<JointTest> joint;           ///< of coefficients, if asked for
  std::vector<StudyCell> study;             ///< of replications, if it was one
  std::optional<double> objective;          ///< penalised sum of losses at the model, where it was minimised
  bool aggregated = false;  ///< rank 0 aggregates: there is one model, and neither consensus error nor mass
  double consensus_error = 0;
  double mass = 0;
  double in_flight = 0;            ///< mass in messages that have not arrived
  std::optional<double> deadline;  ///< seconds that a round waits at most; none where rounds are in step
  Round least_rounds = 0;          ///< played by a rank
  Round most_rounds = 0;
  double largest_debt = 0;                     ///< most step debt that a client has left, in steps of the first round
  std::optional<double> step_cap;              ///< κ, of clients that mix with their neighbours and learn
  std::optional<EffectiveWeights> weights;     ///< likewise
  std::optional<SmallMasses> small_masses;     ///< of clients that mix with their neighbours
  std::optional<Regret> regret;                ///< if asked for
  std::vector<ConstraintFigures> constraints;  ///< of --constraint
  std::optional<VerticalFigures> vertical;     ///< of vertical learning
  PrivacyReport privacy;
  std::vector<EdgeTraffic> edges;
  WireTraffic wire;
  std::int64_t evaluation_bytes = 0;
  double wall = 0;                ///< seconds in rounds
  TimeShares shares;              ///< seconds, summed over ranks
  Vector final_model;             ///< mean over clients
  std::optional<Columns> models;  ///< of all clients, if asked for
  std::string run_directory;
  std::vector<LeftOut> left_out;      ///< by a run that was resumed with other records
  std::vector<std::string> withheld;  ///< keys that are null because they are private
  std::vector<std::string> notes;
};

/// What of it one rank knows after its last round.
struct LocalResults {
  Released<Columns> models;
  Vector masses;
  Vector debts;
  std::vector<Secret<Score>> tallies;
  std::vector<EdgeTraffic> edges;
  WireTraffic wire;
  TimeShares shares;
  std::optional<std::vector<Score>> test;  ///< of each of this rank's clients' models on --test, if there is one
  double in_flight = 0;
  std::optional<Round> played_rounds;  ///< of a rank that hosts clients
};

/// **Collective.** Gathers the ranks' results to rank 0 and fills in `summary`, adding in client order: the figures do
/// not depend on the layout. With `all_models` every client's final model is kept.
void gather_results(Agreement& agreement, const LocalResults& local, const MetricsPolicy& policy, bool all_models,
                    Summary& summary);

/// The JSON of summary.json, indented.
[[nodiscard]] std::string to_json(const Summary& summary);

/// The table at the end of a run; `starling report` shows the same from summary.json.
[[nodiscard]] std::string to_table(const Summary& summary);

/// Writes summary.json in one step: it is there whole or not at all. Throws FailureError.
void write_summary(const RunDirectory& directory, const Summary& summary);

}  // namespace starling
