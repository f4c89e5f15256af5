/// The results of a run: gathered after the last round, written as summary.json, shown as a table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/membership.hpp"
#include "core/snapshot.hpp"
#include "net/traffic.hpp"
#include "output/figures/constraint_figures.hpp"
#include "output/figures/effective_weights.hpp"
#include "output/figures/test_metrics.hpp"
#include "output/figures/vertical_record.hpp"
#include "output/intervals/interval.hpp"
#include "output/intervals/study.hpp"
#include "privacy/statement/statement.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "protocol/renewable/batch_scores.hpp"
#include "regret/regret.hpp"
#include "report/view/json.hpp"

namespace starling {

class Agreement;
class MetricsPolicy;
class RunDirectory;
class SummaryView;

/// The rounds that a run left out when it was resumed: `from` up to, but without, `at`. It may have played these rounds
/// before, on records of pipes that are gone, or with clients that are lost.
struct LeftOut {
  Round from = 0;
  Round at = 0;
  std::int64_t charged = 0;  ///< most releases in these rounds that were charged to a client
  void persist(Snapshot& snapshot) { snapshot(from, at, charged); }
};

/// A value that a rule has chosen for an option that was left open.
struct TunedValue {
  std::string option;  ///< without dashes
  std::string value;
  std::string reason;
};

/// A chosen value for people: the beginning of a long one.
[[nodiscard]] std::string shown_value(const std::string& value);

/// The content of summary.json, whose keys docs/reference/summary.md describes.
struct Summary {
  std::string command;
  std::string command_line;
  Client clients = 0;
  Membership members;  ///< clients that are gone for good or have joined; figures are those of the present ones
  int ranks = 0;
  Round rounds = 0;
  Round rounds_planned = 0;
  std::size_t dimension = 0;
  /// What the model is best for (--client-weights): every record or every client counts alike; empty: neither is known.
  std::string client_weights;
  std::string average = "none";  ///< name of the Averaging of the final models
  bool classifies = false;
  bool learned = false;                     ///< false under --loss none
  std::optional<Score> progressive;         ///< sum over all clients and rounds; none where withheld
  std::optional<double> last_loss;          ///< mean progressive loss of the last tenth of the recorded history
  std::optional<Score> test;                ///< sum over clients' final models on --test
  std::optional<double> larger_class;       ///< accuracy on --test of always answering its most frequent class
  std::optional<TestMetrics> test_metrics;  ///< of the run's model on --test
  std::vector<Interval> intervals;          ///< of coefficients; client by client where each has its own
  std::vector<Interval> own_units;          ///< the same in the source's own units, if records are standardised
  RunSettling settling;                     ///< of the paths behind the intervals
  std::optional<double> interval_records;   ///< records behind the intervals, over all clients
  std::optional<JointTest> joint;           ///< joint test of the coefficients (--joint)
  std::optional<BatchScores> batches;       ///< of renewable estimation, variant online, by a likelihood
  std::vector<StudyCell> study;             ///< cells of a study of replications
  std::optional<double> objective;          ///< penalised sum of losses at a model that minimises it
  bool aggregated = false;  ///< rank 0 aggregates: there is one model, and neither consensus error nor mass
  double consensus_error = 0;
  double mass = 0;
  double in_flight = 0;                     ///< mass in messages that have not arrived
  std::optional<double> deadline;           ///< longest wait of a round in seconds; none where rounds are in step
  Round least_rounds = 0;                   ///< fewest rounds that a rank played
  Round most_rounds = 0;                    ///< most rounds that a rank played
  double largest_debt = 0;                  ///< largest step debt of a client at the end, in steps of the first round
  std::optional<double> step_cap;           ///< κ, of clients that mix with their neighbours and learn
  std::vector<TunedValue> tuned;            ///< of --tuning auto
  double signal_to_noise = 0;               ///< ρ of the rule (docs/methods/learning-rule.md); 0 where it is not known
  std::optional<EffectiveWeights> weights;  ///< of clients that mix with their neighbours and learn
  /// Share of a disagreement between clients that the exchanges of the run leave by its graph's rate of mixing; none
  /// where that is not known.
  std::optional<double> disagreement_left;
  std::vector<std::function<void(Json&)>> figures;  ///< writers of the recorded figures' keys (report/figures)
  std::optional<Regret> regret;                     ///< of --regret
  std::vector<ConstraintFigures> constraints;       ///< of --constraint
  std::optional<VerticalFigures> vertical;          ///< of vertical learning
  PrivacyReport privacy;
  std::vector<EdgeTraffic> edges;
  WireTraffic wire;
  std::int64_t evaluation_bytes = 0;
  double wall = 0;                ///< seconds in rounds
  TimeShares shares;              ///< seconds, summed over ranks
  Vector final_model;             ///< mean over clients
  Vector model_by_mass;           ///< mean over clients by their masses: the model of model.h5
  std::optional<Columns> models;  ///< of all clients (--json-models)
  std::string run_directory;
  std::vector<LeftOut> left_out;      ///< rounds that a resumed run left out
  std::vector<std::string> withheld;  ///< keys that are null because their values are private
  std::vector<std::string> notes;
};

/// One rank's share of the results, after its last round.
struct LocalResults {
  Released<Columns> models;
  Vector masses = {};
  Vector debts = {};  ///< step debts, in steps of the first round
  std::vector<Secret<Score>> tallies = {};
  std::vector<EdgeTraffic> edges = {};
  WireTraffic wire = {};
  TimeShares shares = {};
  std::optional<std::vector<Score>> test = {};  ///< score on --test of the model of each local client
  Vector in_flight = {};                        ///< mass of each local client in messages that have not arrived
  std::optional<Round> played_rounds = {};      ///< none on a rank without clients
  std::vector<char> lost = {};                  ///< whether each local client is lost; empty if none of the run is
  std::vector<char> there = {};                 ///< whether each is still in the run; empty: all are
};

/// **Collective.** Gathers the ranks' results to rank 0 and fills in `summary`. Sums are taken in client order: the
/// figures do not depend on the layout. With `all_models` every client's final model is kept.
void gather_results(Agreement& agreement, const LocalResults& local, const MetricsPolicy& policy, bool all_models,
                    Summary& summary);

/// The JSON of summary.json.
[[nodiscard]] Json json_of(const Summary& summary);

/// The text of summary.json, indented.
[[nodiscard]] std::string to_json(const Summary& summary);

/// The table of results, with the privacy statement in short; `whole` adds the traffic of edges and the whole
/// statement. `starling report` shows the same table from summary.json.
[[nodiscard]] std::string to_table(const Summary& summary, bool whole = false);

/// The row below the table that names the main files of a run's folder.
[[nodiscard]] std::string files_row(const std::string& folder);

/// The parts of the table of results, made from summary.json.
struct ResultTexts {
  std::string heading;  ///< command, clients and rounds, in one line
  std::string tables;   ///< tables of coefficients or of a study; empty for most runs
  std::string rows;     ///< figures, a row each (table_row)
};
[[nodiscard]] ResultTexts texts_of(const SummaryView& summary);

/// Number of edges whose traffic the table lists.
constexpr std::size_t most_shown_edges = 12;
/// The table of results, made from summary.json.
[[nodiscard]] std::string table_of(const SummaryView& summary, bool whole = false);
/// Rows for loss, accuracy, consensus error and mass, as far as they are known.
[[nodiscard]] std::string progress_rows(const SummaryView& summary);
/// The table of a study: a row for each method and level, a column for each number of records (at most five, spread
/// evenly, the last among them). Cells: coverage in per cent with its standard error, and mean length × 100.
[[nodiscard]] std::string study_table(const std::vector<StudyCell>& cells);

/// Writes summary.json and, where records were used, privacy.txt, each whole or not at all. Throws FailureError.
void write_summary(const RunDirectory& directory, const Summary& summary);

}  // namespace starling
