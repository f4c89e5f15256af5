/// The results of a run: gathered after the last round, written as summary.json, shown as a table.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/boundary.hpp"
#include "core/clients/membership.hpp"
#include "core/columns.hpp"
#include "core/snapshot.hpp"
#include "model/score.hpp"
#include "net/traffic.hpp"
#include "privacy/statement/terms.hpp"
#include "protocol/time_shares.hpp"
#include "report/view/json.hpp"

namespace starling {

class Agreement;
class MetricsPolicy;
class RunDirectory;
class SummaryView;
struct NetworkFigures;
struct Panel;
struct StudyCell;

/// The rounds that a run left out when it was resumed: `from` up to, but without, `at`. It may have played these rounds
/// before, on records of pipes that are gone, or with clients that are lost.
struct LeftOut {
  Round from = 0;
  Round at = 0;
  std::int64_t charged = 0;  ///< most releases in these rounds that were charged to a client
  void persist(Snapshot& snapshot) { snapshot(from, at, charged); }
};

/// The facts of a run that all parts of its summary know.
struct SummaryFacts {
  std::string command;
  std::string command_line;
  Client clients = 0;
  Membership members;  ///< clients that are gone for good or have joined; figures are those of the present ones
  int ranks = 0;
  Round rounds = 0;
  Round rounds_planned = 0;
  std::size_t dimension = 0;
  std::optional<ClientWeights> client_weights;  ///< none: of a run that does not learn, or of another method
  std::string average = "none";                 ///< name of the Averaging of the final models
  bool classifies = false;
  bool learned = false;     ///< false under --loss none
  bool aggregated = false;  ///< rank 0 aggregates: there is one model, and neither consensus error nor mass
  std::string run_directory;
  std::vector<LeftOut> left_out;      ///< rounds that a resumed run left out
  std::vector<std::string> withheld;  ///< keys that are null because their values are private
  std::vector<std::string> notes;
};

/// The content of summary.json, whose keys docs/reference/summary.md describes: facts and an open set of parts, at most
/// one of a type. Any copyable type may be a part. Its keys, its rows of the table and its panels are a row of
/// src/report/parts. Parts without a row are figures for the checks at the end (end_checks.hpp).
class Summary : public SummaryFacts {
 public:
  /// Adds a part, or replaces the one of its type.
  template <class Part>
  Part& add(Part part) {
    return *std::any_cast<Part>(&(parts_[typeid(Part)] = std::move(part)));
  }
  /// The part, added empty if it was missing.
  template <class Part>
  [[nodiscard]] Part& part() {
    Part* const found = std::any_cast<Part>(&parts_[typeid(Part)]);
    return found != nullptr ? *found : add(Part());
  }
  /// Null if it is missing.
  template <class Part>
  [[nodiscard]] const Part* find() const {
    const auto found = parts_.find(typeid(Part));
    return found == parts_.end() ? nullptr : std::any_cast<Part>(&found->second);
  }
  /// The part, or an empty one if it is missing.
  template <class Part>
  [[nodiscard]] const Part& get() const {
    static const Part empty{};
    const Part* const found = find<Part>();
    return found != nullptr ? *found : empty;
  }

 private:
  std::map<std::type_index, std::any> parts_;
};

// Parts. Others are the types of the modules that make them: TestMetrics, RunIntervals, std::vector<StudyCell>,
// EffectiveWeights, BatchScores, Regret, std::vector<ConstraintFigures>, PrivacyReport.

/// Losses, accuracies and areas under the ROC curve.
struct RunScores {
  std::optional<Score> progressive;    ///< sum over all clients and rounds; none where withheld
  std::optional<double> last_loss;     ///< mean progressive loss of the last tenth of the recorded history
  std::optional<Score> test;           ///< sum over clients' final models on --test
  std::optional<double> larger_class;  ///< accuracy on --test of always answering its most frequent class
  /// Mean loss on --test of its best constant answer, of a loss that predicts another part of labels than their middle.
  std::optional<double> constant_loss;
  std::optional<double> objective;  ///< penalised sum of losses at a model that minimises it
  std::optional<double> mse;        ///< progressive mean squared error, where that is the loss
  std::optional<double> auc;        ///< progressive, of two classes
};

/// Disagreement between clients, and the mass of push-sum.
struct Consensus {
  double error = 0;  ///< mean squared distance of a client's model to the mean model
  double mass = 0;
  double in_flight = 0;  ///< mass in messages that have not arrived
  /// Share of a disagreement between clients that the exchanges of the run leave by its graph's rate of mixing; none
  /// where that is not known.
  std::optional<double> left;
};

/// Numbers of rounds that the ranks played.
struct Pace {
  std::optional<double> deadline;  ///< longest wait of a round in seconds; none where rounds are in step
  Round least_rounds = 0;          ///< fewest rounds that a rank played
  Round most_rounds = 0;
};

/// The factor of the final models' scores by sums over records (--score-share).
struct ScaledScores {
  double factor = 1;
  double error = 0;  ///< standard error of its logarithm as the sums show it
};

/// The noise that releases have added to the common model.
struct AddedNoise {
  /// Standard deviation of the noise in each parameter of the start less the sum of all released steps, as if no later
  /// step had answered it; 0 without noise.
  std::optional<double> deviation;
  std::string unknown;  ///< why there is none
};

/// Steps of clients.
struct Steps {
  double largest_debt = 0;    ///< largest step debt of a client at the end, in steps of the first round
  std::optional<double> cap;  ///< κ, of clients that mix with their neighbours and learn
};

/// Regret of vertical learning against networks that were found after the rounds.
struct HindsightRegret {
  double hindsight = 0;  ///< Σ_t F_t of the best fixed networks found
  double played = 0;     ///< Σ_t F_t of the played networks
  std::string method;
};

/// Counted bits of the messages of vertical learning, of all rounds.
struct MessageBits {
  double up = 0;
  double down = 0;
  bool broadcast = true;  ///< the downlink is one message for all parties; false: a message to each
  double one_level = 0;   ///< share of the parties' messages in which nearly all numbers have one level
  double jump = 0;        ///< size of a message over the largest before it of its party, at most; of quantised ones
};

/// Messages and bytes.
struct RunTraffic {
  std::vector<EdgeTraffic> edges;
  WireTraffic wire;
  std::int64_t evaluation_bytes = 0;
};

/// A part of runs of the gamma loss that estimate it: φ, by which the variance of an amount is φ times its squared
/// mean.
struct GammaDispersion {
  double value = 0;
};

/// A part of runs on additive shares, whose parties send each other most messages, although rank 0 has a part of its
/// own.
struct LearnedOnShares {
  std::size_t parameters = 0;  ///< of all parties together
};

/// Wall time.
struct RunTimes {
  double wall = 0;    ///< seconds in rounds
  TimeShares shares;  ///< seconds, summed over ranks
};

/// The models at the end.
struct FinalModels {
  Vector mean;                        ///< over clients
  Vector by_mass;                     ///< mean over clients by their masses: the model of model.h5
  std::optional<Columns> of_clients;  ///< of all clients (--json-models)
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
/// Panels of figures.svg.
[[nodiscard]] std::vector<Panel> panels_of(const SummaryView& summary);
/// Rows for loss, accuracy, consensus error and mass, as far as they are known.
[[nodiscard]] std::string progress_rows(const SummaryView& summary);
/// The table of a study: a row for each method and level, a column for each number of records (at most five, spread
/// evenly, the last among them). Cells: coverage in per cent with its standard error, and mean length × 100.
[[nodiscard]] std::string study_table(const std::vector<StudyCell>& cells);

/// Mean progressive loss over the last tenth of the rounds, from a run's history; none where it is unknown.
[[nodiscard]] std::optional<double> last_loss(const std::vector<NetworkFigures>& history, Round rounds);

/// Adds /traffic (edges × from, to, messages, bytes) and /privacy (attributes) to run.h5. Throws FailureError.
void finish_run_file(const RunDirectory& directory, const Summary& summary);

/// Writes summary.json and, where records were used, privacy.txt, each whole or not at all. Throws FailureError.
void write_summary(const RunDirectory& directory, const Summary& summary);

}  // namespace starling
