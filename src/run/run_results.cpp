// Records and summary of a run.
#include <algorithm>
#include <map>

#include "console/version.hpp"
#include "core/digest.hpp"
#include "data/serving/partition.hpp"
#include "files/tell_user.hpp"
#include "learning_run.hpp"
#include "output/model_file/scorer.hpp"
#include "privacy/statement/statement.hpp"
#include "report/end_checks.hpp"
#include "report/summary.hpp"
#include "result_files.hpp"
#include "run/privacy/noise_keys.hpp"

namespace starling {

namespace {

ProgressStyle style_of(ProgressChoice progress) {
  if (progress == ProgressChoice::off) return ProgressStyle::off;
  if (progress == ProgressChoice::json) return ProgressStyle::json;
  if (progress == ProgressChoice::on) return ProgressStyle::lines;
  return Terminal::of_standard_error() ? ProgressStyle::bar : ProgressStyle::lines;
}

std::string note_on_recorded(std::size_t listed) {
  return fmt::format(
      "figures of clients are on record {}, and of all how they are spread over those of each rank; --record-clients "
      "says for whom",
      listed == 0 ? "for none of them" : fmt::format("for {} of them", listed));
}

/// The property of private records that decides which client has which record; empty if none does.
std::string dealt_by(const Dataset& dataset, const std::string& how) {
  if (!dataset.common || dataset.is_public) return "";
  const auto partition = partition_table().make(how);
  if (partition->looks_at() == Partition::Look::labels) return "their labels";
  if (partition->looks_at() == Partition::Look::keys) return fmt::format("column '{}'", partition->key());
  return "";
}

/// The share of the most frequent label among records, at least one.
double share_of_larger_class(const Batch& records) {
  std::map<double, std::int64_t> classes;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < records.size(); ++i) most = std::max(most, ++classes[records.label(i)]);
  return static_cast<double>(most) / static_cast<double>(records.size());
}

}  // namespace

MetricsPolicy LearningRun::metrics_policy() const {
  return metrics_policy_of(common().privacy, !uses_records() || inputs_.dataset.is_public, &shared_figures_);
}

/// The round after which a budget ends learning, where that is known; notes it. **Collective.**
std::optional<Round> LearningRun::end_of_learning(Round rounds) {
  if (!privacy_) return std::nullopt;
  const std::optional<Round> releases = privacy_->will_stop_after();
  if (!releases || *releases / common().releases_of_round >= rounds) return std::nullopt;
  const Round last = *releases / common().releases_of_round;
  notes_.push_back(fmt::format(
      "learning will stop after round {} of {}: then a client has spent its --budget {}, and learns nothing "
      "from its records any more. Raise --budget, lower --epsilon, or play fewer --rounds",
      last, rounds, common().privacy.budget.value_or("")));
  return last;
}

/// Opens the run's records and prints the notes so far. **Collective.**
void LearningRun::open_records(const Recording& recording) {
  world_.watch_signals();  // a user who sees the run's files may send signals
  if (recording.clients.figures != Figures::of_all) {
    notes_.push_back(note_on_recorded(recording.clients.listed.size()));
  }
  const std::optional<Round> learning_ends = end_of_learning(recording.rounds);
  const bool is_short = recording.rounds == 1 && !common().rounds && uses_records() && inputs_.dataset.replayable;
  if (is_short && common().data.batch != 1) {
    notes_.push_back(fmt::format(
        "the run has one round: no client has more records than one --batch {} takes. Lower --batch, or read "
        "them again with --epochs",
        common().data.batch));
  }
  const double epsilon_per_release = privacy_ ? privacy_->epsilon_per_release() : 0;
  records_.emplace(agreement_, recording,
                   RecordingFacts{*directory_,
                                  record_layout(),
                                  dimension_,
                                  metrics_policy(),
                                  common().record_every,
                                  style_of(common().progress),
                                  epsilon_per_release,
                                  [this] { return privacy_ ? privacy_->epsilon_so_far() : std::nullopt; },
                                  [this] {
                                    const TimeShares shares = time_shares();
                                    return shares.learning + shares.mixing;  // rank 0 observes for all
                                  },
                                  learning_ends,
                                  provenance(recording, epsilon_per_release),
                                  inputs_.first_client(),
                                  inputs_.client_count(),
                                  {common().tensorboard, common().openmetrics}});
  if (!first_rank()) return;
  for (const std::string& note : notes_) tell_user("note: {}\n", note);
}

std::vector<std::pair<std::string, std::string>> LearningRun::provenance(const Recording& recording,
                                                                         double epsilon_per_release) const {
  std::vector<std::pair<std::string, std::string>> provenance{
      {"command", command_},
      {"command_line", command_line_},
      {"task", name_of(recording.scores)},
      {"rounds_planned", std::to_string(recording.rounds)},
      {"epsilon_per_release", fmt::format("{:.17g}", epsilon_per_release)},
      {"starling", version()},
      {"mpi", mpi_version()},
      {"configuration_digest", sha256(effective_)},
      {"data_digest", inputs_.dataset.digest},
      {"noise_key", name_of(noise_key_policy(common().privacy.noise_key))},
      {"run_id", run_id_}};
  provenance.insert(provenance.end(), recording.provenance.begin(), recording.provenance.end());
  return provenance;
}

void LearningRun::note_stop(const RoundsEnd& end, const Recording& recording) {
  if (!end.stopped) return;
  notes_.push_back(fmt::format(
      "stopped by a signal after {} {} of {}; all results up to there are whole{}", recording.unit, end.least,
      recording.rounds,
      is_resumable() ? fmt::format(", and starling {} --resume {} goes on from here", command_, directory_->path())
                     : ""));
}

/// Whether a signal may have cut the evaluation after the last round; notes it. Such a run has not finished.
/// **Collective.**
bool LearningRun::evaluation_was_cut() {
  if (!evaluates() || !agreement_.any(declare_public(world_.is_signalled()))) return false;
  notes_.push_back(fmt::format(
      "a signal came during the evaluation after the last round: its results may be cut short{}",
      is_resumable() ? fmt::format(", and starling {} --resume {} evaluates again", command_, directory_->path())
                     : ""));
  return true;
}

TestScore LearningRun::test_score_of(Model& model) const {
  if (!inputs_.test) return {};
  return [this, &model](View x) { return model.score(x, *inputs_.test).of_all(); };
}

LocalResults LearningRun::local_results(Released<Columns> models, Model* model) const {
  const View masses = view().masses();
  LocalResults local{std::move(models)};
  local.masses.assign(masses.begin(), masses.end());
  local.debts.assign(masses.size(), 0.0);
  local.tallies = view().tallies();
  for (std::size_t k = 0; k < masses.size(); ++k) local.in_flight.push_back(view().mass_in_flight(k));
  if (inputs_.members.any_lost()) local.lost = inputs_.lost_here();
  for (std::size_t k = 0; k < masses.size(); ++k) local.there.push_back(view().is_there(k) ? 1 : 0);
  if (recorded_here() > 0) local.played_rounds = view().done();
  local.shares = time_shares();
  if (!inputs_.test || model == nullptr) return local;
  local.test.emplace();
  for (std::size_t k = 0; k < local.models.value().size(); ++k) {
    local.test->push_back(model->score(local.models.value()[k], *inputs_.test).of_all());
  }
  return local;
}

Summary LearningRun::begin_summary(Round planned, double wall) {
  Summary summary;
  if (records_) summary.add(records_->gather_figures(agreement_, notes_));
  summary.command = command_;
  summary.command_line = command_line_;
  if (world_.size() > 1) {
    const char* const crowded = oversubscribed() ? "--oversubscribe " : "";
    summary.command_line = fmt::format("mpirun {}-n {} {}", crowded, world_.size(), command_line_);
  }
  summary.clients = inputs_.layout->clients();
  summary.members = inputs_.members;
  summary.ranks = world_.size();
  summary.rounds_planned = planned;
  summary.dimension = dimension_;
  if (uses_records()) summary.client_weights = common().weights;
  summary.part<RunTimes>().wall = wall;
  summary.run_directory = directory_->path();
  return summary;
}

void LearningRun::set_one_model(Summary& summary, View theta) {
  summary.aggregated = true;
  FinalModels& models = summary.part<FinalModels>();
  models.mean.assign(theta.begin(), theta.end());
  models.by_mass = models.mean;
  summary.part<Consensus>().error = 0;
}

/// Adds the privacy report, metrics on --test and all notes. **Collective.**
void LearningRun::finish_summary(Summary& summary, bool stopped) {
  summary.part<RunScores>().last_loss = last_loss(records_->history(), summary.rounds);
  if (privacy_) add_privacy(summary, stopped);
  if (first_rank()) {
    add_test_metrics(summary);
    const std::optional<SavedModel> model = model_of(summary);
    const DataSettings& data = common().data;
    const double round_records = static_cast<double>(data.batch) * static_cast<double>(summary.clients);
    const double test_records = inputs_.test ? static_cast<double>(inputs_.test->size()) : 0;
    for (std::string& note :
         notes_at_end({summary, records_->history(), round_records, test_records,
                       uses_records() && common().privacy.protects(), data.scales_columns() || data.scale != 1,
                       model && prediction_form(*model).has_value(), common().remedies_of_divergence})) {
      notes_.push_back(std::move(note));
    }
  }
  summary.left_out = checkpoints_->left_out();
  summary.notes = notes_;
}

/// **Collective.**
void LearningRun::add_privacy(Summary& summary, bool stopped) {
  PrivacyReport& report = summary.add(privacy_->finish(stopped));
  report.batch = common().data.batch;
  report.joins = inputs_.members.changes(Membership::Change::Kind::join);
  if (std::optional<BudgetReport>& budget = report.budget; budget && budget->stopped_after) {
    *budget->stopped_after /= common().releases_of_round;
  }
  report.client_weights = common().weights;
  report.own_model = own_model() != nullptr;
  report.dealt_by = dealt_by(inputs_.dataset, common().data.partition);
  if (report.ledger.scope == LedgerReport::Scope::run && !common().private_place.empty()) {
    report.ledger.path = common().private_place + "/<rank>/ledger";
  }
  name_metrics(summary);
  for (std::string& line : weaknesses_of(report)) notes_.push_back(std::move(line));
}

/// Scores the common model on --test. Rank 0's.
void LearningRun::add_test_metrics(Summary& summary) const {
  if (!inputs_.test) return;
  RunScores& scores = summary.part<RunScores>();
  if (scores.test && summary.classifies && inputs_.test->size() > 0)
    scores.larger_class = share_of_larger_class(*inputs_.test);
  const std::optional<SavedModel> model = model_of(summary);
  if (model && prediction_form(*model)) summary.add(metrics_of(*model, *inputs_.test));
}

/// Names the metrics of private records that the run makes known, and those that it withholds. **Collective.**
void LearningRun::name_metrics(Summary& summary) {
  SharedFigures shared;
  for (const std::string& of_rank : agreement_.all_gather(declare_public(shared_figures_.text()))) shared.add(of_rank);
  summary.part<PrivacyReport>().shared_metrics = shared.words();
  if (metrics_policy().shared()) return;
  summary.withheld = {"loss.mean", "loss.last"};
  if (!summary.classifies) return;
  summary.withheld.emplace_back("metrics.progressive_accuracy");
  if (!summary.get<RunScores>().test) summary.withheld.emplace_back("accuracy");
}

/// The model of model.h5, without its origin; none where the command has none. Rank 0's.
std::optional<SavedModel> LearningRun::model_of(const Summary& summary) const {
  std::optional<SavedModel> model = model_of_results();
  if (model) model = completed(std::move(*model), summary, common().data, inputs_.dataset);
  return model;
}

std::vector<std::pair<std::string, std::string>> LearningRun::origin_of_model(const Summary& summary) const {
  std::vector<std::pair<std::string, std::string>> origin{{"command", command_},
                                                          {"command_line", command_line_},
                                                          {"run_id", run_id_},
                                                          {"starling", version()},
                                                          {"configuration_digest", sha256(effective_)},
                                                          {"data_digest", inputs_.dataset.digest},
                                                          {"clients", std::to_string(summary.clients)},
                                                          {"rounds", std::to_string(summary.rounds)}};
  if (privacy_) origin.emplace_back("privacy", statement(summary.get<PrivacyReport>()));
  return origin;
}

/// Writes all files, and prints the summary. Rank 0's.
void LearningRun::write_results(Summary summary, bool stopped) {
  const OwnResults own = own_results(summary);
  std::optional<SavedModel> model = model_of(summary);
  if (model) model->origin = origin_of_model(summary);
  write_result_files(*directory_, summary, own, model);
  if (!stopped) draw_results(*directory_, summary, own, records_->history());  // after a signal there may be no time
  print_summary(summary, common());
}

}  // namespace starling
