/// The steps of one learning command in the life cycle of a run.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "output/checkpoints/checkpointer.hpp"
#include "output/network_reporter.hpp"
#include "output/recorded.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "protocol/time_shares.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"

namespace starling {

/// The planned rounds of a run, and the figures that are recorded after them.
struct Recording {
  Round rounds = 0;  ///< planned
  Recorded clients;
  Scores scores = Scores::none;
  TestScore test;
  Models models = Models::one_each;
  std::vector<std::pair<std::string, std::string>> provenance;  ///< attributes of run.h5, beside those of all runs
  std::string unit = "round";                                   ///< name of a round in messages
  std::optional<Mixing> mixing = {};  ///< how clients mix with their neighbours; none where rank 0 aggregates
};

/// Scores of a model that learns.
[[nodiscard]] inline Scores scores_of(bool classifies) {
  return classifies ? Scores::losses_and_accuracies : Scores::losses;
}

/// The end of a run's rounds.
struct RoundsEnd {
  Round done = 0;        ///< rounds of the rank that came furthest
  Round least = 0;       ///< rounds of the rank with clients that came least far
  bool stopped = false;  ///< by a signal

  /// The end of rounds that all ranks complete together.
  [[nodiscard]] static RoundsEnd in_step(Round done, Round planned) { return {done, done, done < planned}; }
};

/// Results of one command beside those of all commands.
struct OwnResults {
  std::string model = "the final model";           ///< name of the last model in pictures
  std::function<void()> write;                     ///< writes tables
  std::function<std::vector<std::string>()> draw;  ///< draws pictures; returns the reasons for missing ones
};

/// The steps of a learning command. `LearningRun::run` calls them on all ranks, in the order of their declaration.
/// Rank-local steps must not communicate. They may throw on one rank alone: all ranks then leave together. All other
/// steps are **collective**.
class RunSteps {
 public:
  RunSteps() = default;
  virtual ~RunSteps() = default;
  RunSteps(const RunSteps&) = delete;
  RunSteps& operator=(const RunSteps&) = delete;

  /// Reads the graph of clients, if there is one. Rank-local.
  virtual void open_graph() {}
  /// Digest of the graph, which must be the same on all ranks. Rank-local.
  [[nodiscard]] virtual std::string graph_digest() const { return ""; }
  /// Assigns clients to ranks and opens the records of this rank's clients. Rank-local.
  virtual void open_data() = 0;
  /// Joins what the ranks know of their records.
  virtual void agree_on_data() = 0;
  /// Chooses settings that were left open, from what all ranks know of their records.
  virtual void choose_settings() {}
  /// Makes the model and chooses the number of rounds. Rank-local.
  virtual void open_model() = 0;
  /// Settles what depends on the models and records of all ranks.
  virtual void agree_on_model() {}
  /// The facts on which the run's privacy depends. Only runs that learn are asked. Rank-local.
  [[nodiscard]] virtual RunFacts privacy_facts() = 0;

  /// Builds the protocol.
  virtual void build_protocol() = 0;
  [[nodiscard]] virtual Recording recording() = 0;
  /// Adds the command's own observers, and the parts of checkpoints: all state that changes in rounds.
  virtual void add_observers(std::vector<Observer*>& observers, KeptParts& parts) = 0;
  /// Plays all rounds, or fewer if a signal stops the run.
  virtual void play_rounds(const std::vector<Observer*>& observers) = 0;
  [[nodiscard]] virtual RoundsEnd end_rounds() = 0;
  /// The state of this rank's clients.
  [[nodiscard]] virtual const RoundView& view() const = 0;
  /// The seconds of this rank in rounds so far.
  [[nodiscard]] virtual TimeShares time_shares() const = 0;
  /// The models that the run ends with: d × clients of this rank.
  [[nodiscard]] virtual Released<Columns> final_models() = 0;

  /// Whether `summarise` goes over the records again, which may take as long as the rounds.
  [[nodiscard]] virtual bool evaluates() const { return false; }
  /// Adds the command's results to `summary`.
  virtual void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) = 0;
  /// Completes `summary` once it has the privacy report.
  virtual void complete_summary(Summary& /*summary*/) {}
  /// Called on rank 0 alone. Rank-local.
  [[nodiscard]] virtual OwnResults own_results(const Summary& /*summary*/) { return {}; }
  /// The exit code of a run whose files are complete. May throw, on all ranks.
  [[nodiscard]] virtual ExitCode exit_code(const Summary& /*summary*/, const RoundsEnd& end) {
    return end.stopped ? ExitCode::stopped_safely : ExitCode::done;
  }
};

}  // namespace starling
