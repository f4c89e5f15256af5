#include "run_results.hpp"

#include <algorithm>
#include <map>
#include <unistd.h>

#include "console/version.hpp"
#include "core/digest.hpp"
#include "data/serving/dataset.hpp"
#include "data/serving/partition.hpp"
#include "files/tell_user.hpp"
#include "files/terminal.hpp"
#include "net/host/host_limits.hpp"
#include "net/host/mpi_session.hpp"
#include "output/model_file/scorer.hpp"
#include "output/network_reporter.hpp"
#include "output/progress_printer.hpp"
#include "personal_models.hpp"
#include "privacy/statement/statement.hpp"
#include "report/end_checks.hpp"
#include "report/summary.hpp"
#include "result_files.hpp"
#include "run/identity/introductions.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/run_records.hpp"
#include "run/resumption/run_checkpoints.hpp"
#include "run/settings/learning_config.hpp"
#include "run/stages/method.hpp"
#include "run/stages/run_context.hpp"
#include "scaled_scores.hpp"

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

/// The least mean loss of a constant score. Losses are convex.
double loss_of_constant(const Loss& loss, const Batch& records) {
  constexpr int halvings = 60;
  const auto total = [&](double score) {
    double sum = 0;
    for (std::size_t i = 0; i < records.size(); ++i) sum += loss.value(View(&score, 1), records.label(i));
    return sum;
  };
  double low = records.label(0);
  double high = low;
  for (std::size_t i = 0; i < records.size(); ++i) {
    low = std::min(low, records.label(i));
    high = std::max(high, records.label(i));
  }
  for (int i = 0; i < halvings; ++i) {
    const double third = (high - low) / 3;
    if (total(low + third) < total(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  return total((low + high) / 2) / static_cast<double>(records.size());
}

/// The round after which a budget ends learning, where that is known; notes it. **Collective.**
std::optional<Round> end_of_learning(const BegunRun& begun, Round rounds) {
  if (begun.privacy == nullptr) return std::nullopt;
  const LearningConfig& config = begun.context.common();
  const std::optional<Round> releases = begun.privacy->will_stop_after();
  if (!releases || *releases / config.releases_of_round >= rounds) return std::nullopt;
  const Round last = *releases / config.releases_of_round;
  begun.context.notes.push_back(fmt::format(
      "learning will stop after round {} of {}: then a client has spent its --budget {}, and learns nothing "
      "from its records any more. Raise --budget, lower --epsilon, or play fewer --rounds",
      last, rounds, config.privacy.budget.value_or("")));
  return last;
}

/// The origin of this run's files: command, build, digests.
std::vector<std::pair<std::string, std::string>> origin(const BegunRun& begun) {
  const RunContext& run = begun.context;
  return {{"command", run.command},
          {"command_line", run.start.command_line},
          {"run_id", begun.run_id},
          {"starling", version()},
          {"configuration_digest", sha256(run.effective)},
          {"data_digest", run.inputs.dataset.digest}};
}

std::vector<std::pair<std::string, std::string>> provenance(const BegunRun& begun, const Recording& recording,
                                                            double epsilon_per_release) {
  auto provenance = origin(begun);
  provenance.insert(provenance.end(),
                    {{"task", name_of(recording.scores)},
                     {"rounds_planned", std::to_string(recording.rounds)},
                     {"epsilon_per_release", fmt::format("{:.17g}", epsilon_per_release)},
                     {"mpi", mpi_version()},
                     {"noise_key", name_of(noise_key_policy(begun.context.common().privacy.noise_key))}});
  provenance.insert(provenance.end(), recording.provenance.begin(), recording.provenance.end());
  return provenance;
}

/// How the run can be resumed, for the end of a note: "; …, and starling omd --resume DIR `then`"; empty if it cannot.
std::string how_to_resume(const BegunRun& begun, std::string_view then) {
  if (!begun.context.is_resumable()) return "";
  return fmt::format(", and starling {} --resume {} {}", begun.context.command, begun.directory.path(), then);
}

void note_stop(const BegunRun& begun, const Outcome& outcome) {
  if (!outcome.end.stopped) return;
  begun.context.notes.push_back(
      fmt::format("stopped by a signal after {} {} of {}; all results up to there are whole{}", outcome.recording.unit,
                  outcome.end.least, outcome.recording.rounds, how_to_resume(begun, "goes on from here")));
}

/// Whether a signal may have cut the evaluation after the last round; notes it. Such a run has not finished.
/// **Collective.**
bool evaluation_was_cut(const BegunRun& begun, const Recording& recording) {
  RunContext& run = begun.context;
  if (!recording.evaluates || !run.agreement.any(declare_public(run.world.is_signalled()))) return false;
  run.notes.push_back(
      fmt::format("a signal came during the evaluation after the last round: its results may be cut short{}",
                  how_to_resume(begun, "evaluates again")));
  return true;
}

/// The model of model.h5, without its origin; none where the method has none. Rank 0's.
std::optional<SavedModel> model_of(const BegunRun& begun, const Play& play, const Summary& summary) {
  std::optional<SavedModel> model = play.saved_model();
  const RunContext& run = begun.context;
  if (model)
    model = completed(std::move(*model), summary.get<FinalModels>().by_mass, run.common().data, run.inputs.dataset);
  return model;
}

/// Names the metrics of private records that the run makes known, and those that it withholds. **Collective.**
void name_metrics(RunContext& run, Summary& summary) {
  summary.part<PrivacyReport>().shared_metrics = run.figures_of_all_ranks().words();
  if (run.metrics_policy().shared()) return;
  summary.withheld = {"loss.mean", "loss.last"};
  if (!summary.classifies) return;
  summary.withheld.emplace_back("metrics.progressive_accuracy");
  if (!summary.get<RunScores>().test) summary.withheld.emplace_back("accuracy");
}

/// **Collective.**
void add_privacy(const BegunRun& begun, Summary& summary, bool stopped) {
  RunContext& run = begun.context;
  const LearningConfig& config = run.common();
  PrivacyReport& report = summary.add(begun.privacy->finish(stopped));
  report.batch = config.data.batch;
  report.joins = run.inputs.members.changes(Membership::Change::Kind::join);
  if (std::optional<BudgetReport>& budget = report.budget; budget && budget->stopped_after) {
    *budget->stopped_after /= config.releases_of_round;
  }
  report.client_weights = config.weights;
  report.own_model = run.own_model != nullptr;
  report.personal = config.personal;
  report.dealt_by = dealt_by(run.inputs.dataset, config.data.partition);
  if (report.ledger.scope == LedgerReport::Scope::run && !config.private_place.empty()) {
    report.ledger.path = config.private_place + "/<rank>/ledger";
  }
  name_metrics(run, summary);
  for (std::string& line : weaknesses_of(report)) run.notes.push_back(std::move(line));
}

/// Scores the common model on --test. Rank 0's.
void add_test_metrics(const RunContext& run, Summary& summary, const std::optional<SavedModel>& model) {
  if (!run.inputs.test) return;
  RunScores& scores = summary.part<RunScores>();
  if (scores.test && summary.classifies && run.inputs.test->size() > 0)
    scores.larger_class = share_of_larger_class(*run.inputs.test);
  if (!model || !prediction_form(*model)) return;
  summary.add(metrics_of(*model, *run.inputs.test));
  const std::unique_ptr<Loss> loss = loss_table().make(model->loss);
  if (scores.test && loss->predicts_tail() && run.inputs.test->size() > 0)
    scores.constant_loss = loss_of_constant(*loss, *run.inputs.test);
}

/// Noise is multiplied with the models that have it.
void add_scaled(const ScaledScores& scaled, Summary& summary) {
  summary.add(scaled);
  if (std::optional<double>& deviation = summary.part<AddedNoise>().deviation) *deviation *= scaled.factor;
}

/// Adds the privacy report, metrics on --test and all notes. **Collective.**
void finish_summary(const BegunRun& begun, const Play& play, const std::vector<NetworkFigures>& history, bool stopped,
                    Summary& summary) {
  RunContext& run = begun.context;
  const LearningConfig& config = run.common();
  summary.part<RunScores>().last_loss = last_loss(history, summary.rounds);
  if (begun.privacy != nullptr) add_privacy(begun, summary, stopped);
  if (run.inputs.introductions) summary.add(VerifiedMembers{run.inputs.introductions->members(), run.inputs.sealed});
  if (run.first_rank()) {
    const std::optional<SavedModel> model = model_of(begun, play, summary);
    add_test_metrics(run, summary, model);
    const double round_records = static_cast<double>(config.data.batch) * static_cast<double>(summary.clients);
    const double test_records = run.inputs.test ? static_cast<double>(run.inputs.test->size()) : 0;
    for (std::string& note :
         notes_at_end({summary, history, round_records, test_records, config.learns() && config.privacy.protects(),
                       config.data.scales_columns() || config.data.scale != 1,
                       model && prediction_form(*model).has_value(), config.remedies_of_divergence})) {
      run.notes.push_back(std::move(note));
    }
  }
  summary.notes = run.notes;
}

/// Writes all files, and prints the summary. Rank 0's.
void write_results(const BegunRun& begun, Play& play, const std::vector<NetworkFigures>& history, bool stopped,
                   Summary summary) {
  const OwnResults own = play.own_results(summary);
  std::optional<SavedModel> model = model_of(begun, play, summary);
  if (model) model->origin = origin_of_model(begun, summary);
  write_result_files(begun.directory, summary, own, model);
  if (!stopped) draw_results(begun.directory, summary, own, history);  // after a signal there may be no time
  print_summary(summary, begun.context.common());
}

}  // namespace

RecordingFacts recording_facts(const BegunRun& begun, const Method& method, const Play& play,
                               const Recording& recording) {
  RunContext& run = begun.context;
  const LearningConfig& config = run.common();
  run.world.watch_signals();  // a user who sees the run's files may send signals
  if (recording.clients.figures != Figures::of_all) {
    run.notes.push_back(note_on_recorded(recording.clients.listed.size()));
  }
  const std::optional<Round> learning_ends = end_of_learning(begun, recording.rounds);
  const bool is_short = recording.rounds == 1 && !config.rounds && config.learns() && run.inputs.dataset.replayable;
  if (is_short && config.data.batch != 1) {
    run.notes.push_back(fmt::format(
        "the run has one round: no client has more records than one --batch {} takes. Lower --batch, or read "
        "them again with --epochs",
        config.data.batch));
  }
  RunPrivacy* const privacy = begun.privacy;
  const double epsilon_per_release = privacy != nullptr ? privacy->epsilon_per_release() : 0;
  return {begun.directory,
          method.record_layout(),
          method.dimension(),
          run.metrics_policy(),
          config.record_every,
          style_of(config.progress),
          epsilon_per_release,
          [privacy] { return privacy != nullptr ? privacy->epsilon_so_far() : std::nullopt; },
          [&play] {
            const TimeShares shares = play.time_shares();
            return shares.learning + shares.mixing;  // rank 0 observes for all
          },
          learning_ends,
          provenance(begun, recording, epsilon_per_release),
          run.inputs.first_client(),
          run.inputs.client_count(),
          {config.tensorboard, config.openmetrics}};
}

void tell_notes(const RunContext& run) {
  if (!run.first_rank()) return;
  for (const std::string& note : run.notes) tell_user("note: {}\n", note);
}

LocalResults local_results(const RunContext& run, const Method& method, const Play& play, Released<Columns> models,
                           Model* model) {
  const RoundView& view = play.view();
  const View masses = view.masses();
  LocalResults local{std::move(models)};
  local.masses.assign(masses.begin(), masses.end());
  local.debts.assign(masses.size(), 0.0);
  local.tallies = view.played().tallies;
  for (std::size_t k = 0; k < masses.size(); ++k) local.in_flight.push_back(view.mass_in_flight(k));
  if (run.inputs.members.any_lost()) local.lost = run.inputs.lost_here();
  for (std::size_t k = 0; k < masses.size(); ++k) local.there.push_back(view.is_there(k) ? 1 : 0);
  if (method.record_layout().count(run.world.rank()) > 0) local.played_rounds = view.done();
  local.shares = play.time_shares();
  if (!run.inputs.test || model == nullptr) return local;
  local.test.emplace();
  for (std::size_t k = 0; k < local.models.value().size(); ++k) {
    local.test->push_back(model->score(local.models.value()[k], *run.inputs.test).of_all());
  }
  return local;
}

Summary begin_summary(const BegunRun& begun, std::size_t dimension, Round planned, double wall) {
  const RunContext& run = begun.context;
  const int ranks = run.world.size();
  Summary summary;
  summary.command = run.command;
  summary.command_line = run.start.command_line;
  if (ranks > 1) {
    const char* const launcher = started_by_slurm(getppid(), "/proc") ? "srun"
                                 : oversubscribed()                   ? "mpirun --oversubscribe"
                                                                      : "mpirun";
    summary.command_line = fmt::format("{} -n {} {}", launcher, ranks, run.start.command_line);
  }
  summary.clients = run.inputs.layout->clients();
  summary.members = run.inputs.members;
  summary.ranks = ranks;
  summary.rounds_planned = planned;
  summary.dimension = dimension;
  if (run.common().learns()) summary.client_weights = run.common().weights;
  summary.part<RunTimes>().wall = wall;
  summary.add(run.tuning);
  summary.run_directory = begun.directory.path();
  return summary;
}

std::vector<std::pair<std::string, std::string>> origin_of_model(const BegunRun& begun, const Summary& summary) {
  auto of_model = origin(begun);
  of_model.emplace_back("clients", std::to_string(summary.clients));
  of_model.emplace_back("rounds", std::to_string(summary.rounds));
  if (begun.privacy != nullptr) of_model.emplace_back("privacy", statement(summary.get<PrivacyReport>()));
  return of_model;
}

void set_one_model(Summary& summary, View theta) {
  summary.aggregated = true;
  FinalModels& models = summary.part<FinalModels>();
  models.mean.assign(theta.begin(), theta.end());
  models.by_mass = models.mean;
  summary.part<Consensus>().error = 0;
}

ExitCode finish_run(const BegunRun& begun, const Method& method, Play& play, RunRecords& records,
                    RunCheckpoints& checkpoints, Outcome outcome) {
  RunContext& run = begun.context;
  RoundsEnd& end = outcome.end;
  Released<Columns> models = play.final_models();
  const std::optional<ScaledScores> scaled = scale_scores(begun, play, outcome, models);
  records.finish(play.view(), end.done, models);
  note_stop(begun, outcome);
  Summary summary = begin_summary(begun, method.dimension(), outcome.recording.rounds, outcome.wall);
  summary.add(records.gather_figures(run.agreement, run.notes));
  summary.rounds = end.least;
  play.summarise(summary, std::move(models), end);
  if (scaled) add_scaled(*scaled, summary);
  end.stopped = end.stopped || evaluation_was_cut(begun, outcome.recording);
  summary.left_out = checkpoints.left_out();
  finish_summary(begun, play, records.history(), end.stopped, summary);
  play.complete_summary(summary);
  begun.directory.bring_in(run.agreement);
  run.on_first_rank([&] { write_results(begun, play, records.history(), end.stopped, summary); });
  if (!end.stopped) {
    checkpoints.drop(end.done, begun.directory, method.record_layout().count(run.world.rank()) > 0);
    run.on_first_rank([&] {
      if (run.is_resumable()) begun.directory.finish();
    });
  }
  const ExitCode code = play.exit_code(summary, end);
  if (run.common().personal) make_personal_models(begun, play, outcome.recording, summary, end.stopped);
  return code;
}

}  // namespace starling
