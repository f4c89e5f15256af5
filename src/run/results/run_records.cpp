#include "run/results/run_records.hpp"

#include <filesystem>

#include "net/mailboxes/mailboxes.hpp"
#include "output/dashboards/openmetrics.hpp"
#include "output/dashboards/tensorboard.hpp"
#include "output/network_reporter.hpp"
#include "output/progress_printer.hpp"
#include "run_results.hpp"

namespace starling {

namespace {

/// The writers of a run's history, on rank 0.
std::vector<std::unique_ptr<HistoryWriter>> writers_of(const RecordingFacts& facts, Round planned) {
  std::vector<std::unique_ptr<HistoryWriter>> writers;
  const std::string& path = facts.directory.path();
  writers.push_back(std::make_unique<HistoryFile>(path + "/history.csv"));
  const auto& [tensorboard, openmetrics] = facts.dashboards;
  if (tensorboard) writers.push_back(std::make_unique<TensorBoardFile>(*tensorboard));
  if (openmetrics) {
    const std::string name = std::filesystem::absolute(path + "/").parent_path().filename().string();
    writers.push_back(std::make_unique<OpenMetricsFile>(*openmetrics, name, planned));
  }
  return writers;
}

}  // namespace

RunRecords::RunRecords(Agreement& agreement, const Recording& recording, const RecordingFacts& facts)
    : models_here_(facts.layout.count(agreement.rank())),
      figures_({facts.first, static_cast<std::size_t>(facts.clients), recording.mixing}) {
  open_recorder(agreement, recording, facts);
  open_run_file(agreement, recording, facts);
  open_reporter(agreement, recording, facts);
}

/// **Collective.**
void RunRecords::open_recorder(Agreement& agreement, const Recording& recording, const RecordingFacts& facts) {
  agreement.together([&] {
    if (models_here_ == 0) return;
    recorder_.emplace(facts.directory, agreement.rank(), facts.layout.first(agreement.rank()),
                      static_cast<std::size_t>(models_here_), facts.dimension, recording.clients, facts.policy,
                      RecordRounds(facts.record_every), recording.scores);
  });
}

/// **Collective.**
void RunRecords::open_run_file(Agreement& agreement, const Recording& recording, const RecordingFacts& facts) {
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    const Scores shared = facts.policy.shared() ? recording.scores : Scores::none;
    write_run_file(facts.directory, {facts.layout, facts.dimension, recording.clients, shared}, facts.provenance);
  });
}

/// **Collective.**
void RunRecords::open_reporter(Agreement& agreement, const Recording& recording, const RecordingFacts& facts) {
  const bool first_rank = agreement.rank() == 0;
  std::vector<std::unique_ptr<HistoryWriter>> writers;
  agreement.together([&] {
    if (first_rank) writers = writers_of(facts, recording.rounds);
  });
  printer_.emplace(facts.progress, recording.rounds, facts.epsilon_per_release);
  printer_->epsilon_from(facts.epsilon_spent);
  if (facts.learning_ends) printer_->learning_ends_after(*facts.learning_ends);
  std::vector<int> active;
  for (int r = 0; r < agreement.ranks(); ++r) {
    if (facts.layout.count(r) > 0) active.push_back(r);
  }
  reporter_.emplace(agreement, std::move(active), facts.layout.first(agreement.rank()), facts.policy, recording.scores,
                    recording.test, first_rank ? &*printer_ : nullptr, std::move(writers), recording.models);
  reporter_->time_by(facts.work);
  agreement.together([&] {
    if (models_here_ == 0) return;
    reporter_->keep_in(facts.directory.private_folder(agreement.rank()) + "/reports", !facts.directory.goes_on());
  });
}

std::vector<Observer*> RunRecords::observers() {
  if (models_here_ == 0) return {};
  std::vector<Observer*> observers = figures_.observers();
  observers.insert(observers.begin(), {&*recorder_, &*reporter_});
  return observers;
}

void RunRecords::add_parts(KeptParts& parts) {
  figures_.keep_in(parts);
  if (models_here_ == 0) return;
  parts.add("models on record", *recorder_);
  parts.add("history", *reporter_);
}

void RunRecords::finish(const RoundView& view, Round done, const Released<Columns>& models) {
  if (models_here_ == 0) return;
  recorder_->finish(view, done, models);
  reporter_->finish(view, done);
}

}  // namespace starling
