/// The records of a run while it goes on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "output/directory/run_directory.hpp"
#include "output/model_recorder.hpp"
#include "output/network_reporter.hpp"
#include "output/progress_printer.hpp"
#include "report/figures/figure.hpp"
#include "run/stages/play.hpp"

namespace starling {

/// Where a run's history goes besides history.csv.
struct Dashboards {
  std::optional<std::string> tensorboard;  ///< folder for event files
  std::optional<std::string> openmetrics;  ///< file
};

/// Facts of a run that its records depend on.
struct RecordingFacts {
  const RunDirectory& directory;
  Layout layout;  ///< the models on record, by rank
  std::size_t dimension = 0;
  MetricsPolicy policy;
  std::optional<Round> record_every;
  ProgressStyle progress = ProgressStyle::off;
  double epsilon_per_release = 0;
  std::function<std::optional<double>()> epsilon_spent;  ///< of a record, so far
  WorkClock work;                                        ///< of this rank
  std::optional<Round> learning_ends;  ///< the round after which a budget ends learning, if there is one
  std::vector<std::pair<std::string, std::string>> provenance;  ///< attributes of run.h5
  Client first = 0;                                             ///< first client of this rank
  Client clients = 0;                                           ///< number of clients of this rank
  Dashboards dashboards = {};
};

/// Models and figures of this rank's clients, the run's history and its progress. All of them observe rounds.
class RunRecords {
 public:
  /// Opens the run's files. **Collective.** Throws FailureError.
  RunRecords(Agreement& agreement, const Recording& recording, const RecordingFacts& facts);

  /// The observers of this rank's models; none on a rank without models.
  [[nodiscard]] std::vector<Observer*> observers();
  void add_parts(KeptParts& parts);
  /// Closes the files of a run that has completed `done` rounds and ends with `models` (d × models of this rank).
  void finish(const RoundView& view, Round done, const Released<Columns>& models);
  /// The results of the recorded figures, on rank 0; appends their notes to `notes`. **Collective.**
  [[nodiscard]] FigureWriters gather_figures(Agreement& agreement, std::vector<std::string>& notes) const {
    return figures_.gather(agreement, notes);
  }
  /// Rank 0's history of the network's figures.
  [[nodiscard]] const std::vector<NetworkFigures>& history() const { return reporter_->history(); }

 private:
  void open_recorder(Agreement& agreement, const Recording& recording, const RecordingFacts& facts);
  void open_run_file(Agreement& agreement, const Recording& recording, const RecordingFacts& facts);
  void open_reporter(Agreement& agreement, const Recording& recording, const RecordingFacts& facts);

  Client models_here_;
  std::optional<ModelRecorder> recorder_;  ///< on ranks with models
  FigureRecorder figures_;
  std::optional<ProgressPrinter> printer_;
  std::optional<NetworkReporter> reporter_;
};

}  // namespace starling
