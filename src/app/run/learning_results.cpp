// What the runs of all learning commands come to.
#include "app/console/version.hpp"
#include "learning_run.hpp"
#include <algorithm>

#include "starling/data/serving/partition.hpp"
#include "starling/files/durable_file.hpp"
#include "starling/record/figures/divergence.hpp"
#include "starling/report/pictures/picture.hpp"
#include "starling/report/run_file.hpp"

namespace starling {

std::string LearningRun::full_command_line() const {
  if (world_.size() == 1) return command_line_;
  return fmt::format("mpirun {}-n {} {}", oversubscribed() ? "--oversubscribe " : "", world_.size(), command_line_);
}

void LearningRun::note_stop(Round done, Round planned, std::string_view unit, bool resumable) {
  notes_.push_back(fmt::format(
      "stopped by a signal after {} {} of {}; all results up to there are whole{}", unit, done, planned,
      resumable ? fmt::format(", and starling {} --resume {} goes on from here", command_, directory_->path()) : ""));
}

bool LearningRun::is_finished() {
  if (!goes_on_) return false;
  bool finished = false;
  agreement_.together([&] {
    const std::optional<Round> rounds = directory_->finished_rounds();
    if (rounds && common().rounds.value_or(*rounds) <= *rounds) finished = true;
    check(!rounds || finished || directory_->has_checkpoints(world_.rank()) || !first_rank(),
          "--resume '{}' --rounds: its {} rounds are over, and it has left no checkpoint (it ran without "
          "--checkpoint-every) start a run of its own",
          directory_->path(), rounds.value_or(0));
  });
  return agreement_.broadcast(declare_public(finished));
}

ExitCode LearningRun::show_finished() const {
  if (!first_rank()) return ExitCode::done;
  fmt::print(stderr, "note: the run in '{}' has played all its rounds\n", directory_->path());
  if (common().json) fmt::print("{}", read_whole_file(directory_->summary_file()).value_or(""));
  return ExitCode::done;
}

Summary LearningRun::begin_summary(Round planned, double wall) const {
  Summary summary;
  summary.command = command_;
  summary.command_line = full_command_line();
  summary.clients = layout_->clients();
  summary.ranks = world_.size();
  summary.rounds_planned = planned;
  summary.dimension = dimension_;
  summary.wall = wall;
  summary.run_directory = directory_->path();
  return summary;
}

void LearningRun::set_one_model(Summary& summary, View theta) {
  summary.aggregated = true;
  summary.final_model.assign(theta.begin(), theta.end());
  summary.consensus_error = 0;
}

void LearningRun::finish_summary(Summary& summary, bool stopped) {
  summary.last_loss = last_loss(reporter_->history(), summary.rounds);
  if (privacy_) {
    summary.privacy = privacy_->finish(stopped);
    summary.privacy.batch = common().data.batch;
    if (std::optional<BudgetReport>& budget = summary.privacy.budget; budget && budget->stopped_after) {
      *budget->stopped_after /= releases_of_round();
    }
    summary.privacy.dealt_by = dealt_by();
    name_metrics(summary);
  }
  if (first_rank()) {
    const double round_records = static_cast<double>(common().data.batch) * static_cast<double>(summary.clients);
    const double test_records = test_ ? static_cast<double>(test_->size()) : 0;
    const auto note = note_of_divergence({reporter_->history(), summary.last_loss.value_or(NetworkFigures::unknown),
                                          summary.classifies, round_records, test_records, summary.final_model});
    if (note && summary.learned) notes_.push_back(*note);
  }
  if (summary.progressive && summary.progressive->out_of_range > 0) {
    notes_.push_back(fmt::format(
        "{} times a record was out of range (its gradient not finite or too long to be clipped, so that it contributed "
        "nothing, or its loss not finite): scale the features, or take a smaller --step",
        summary.progressive->out_of_range));
  }
  summary.left_out = feed_.left_out;
  summary.notes = notes_;
}

std::string LearningRun::dealt_by() const {
  if (!dataset_.common || dataset_.is_public) return "";
  const auto partition = partition_table().make(common().data.partition);
  if (partition->looks_at() == Partition::Look::labels) return "their labels";
  if (partition->looks_at() == Partition::Look::keys) return fmt::format("column '{}'", partition->key());
  return "";
}

/// **Collective.**
void LearningRun::name_metrics(Summary& summary) {
  SharedFigures shared;
  for (const std::string& of_rank : agreement_.all_gather(declare_public(shared_figures_.text()))) shared.add(of_rank);
  summary.privacy.shared_metrics = shared.words();
  if (metrics_policy().shared()) return;
  summary.withheld = {"loss.mean", "loss.last"};
  if (!summary.classifies) return;
  summary.withheld.emplace_back("metrics.progressive_accuracy");
  if (!test_) summary.withheld.emplace_back("accuracy");
}

void LearningRun::write_results(Summary summary, bool stopped, const std::string& last, const OwnResults& own) {
  const std::string& folder = directory_->path();
  fault_point("results");
  finish_run_file(*directory_, summary);
  fault_point("results");
  write_summary(*directory_, summary);
  fault_point("results");
  if (!summary.intervals.empty()) write_coefficients(*directory_, summary.intervals);
  if (summary.regret) write_regret_curve(folder, summary.regret->curve);
  if (own.write) own.write();
  if (!stopped) {  // after a signal there may be no second left
    const RecordedModels models = read_models(folder);
    const bool compared = summary.regret && summary.regret->fixed;
    RunCurves curves{reporter_->history(), convergence_to(models, summary.final_model, last)};
    curves.components = components_of(models, compared ? View(summary.regret->fixed->comparator.x) : View());
    if (summary.regret) curves.regret = summary.regret->curve;
    write_convergence(folder, curves.convergence);
    std::vector<std::string> problems;
    fault_point("results");
    if (own.draw) problems = own.draw();
    problems.push_back(draw_pictures(folder, curves, false));
    fault_point("results");
    std::erase(problems, "");
    if (!problems.empty()) {
      summary.notes.push_back(problems.back());
      write_summary(*directory_, summary);
    }
  }
  print_summary(summary);
}

void LearningRun::print_summary(const Summary& summary) const {
  if (common().json) {
    fmt::print("{}\n", to_json(summary));
  } else {
    fmt::print("\n{}", to_table(summary));
  }
  std::fflush(stdout);
}

}  // namespace starling
