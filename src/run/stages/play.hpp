/// The protocol of a learning method while a run plays it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/boundary.hpp"
#include "core/check.hpp"
#include "output/choices.hpp"
#include "privacy/keys/release_path.hpp"
#include "protocol/time_shares.hpp"

namespace starling {

class KeptParts;
class Model;
class Observer;
class RoundView;
class Stream;
class Summary;
struct NetworkFigures;
struct SavedModel;
enum class Mixing;

/// The path by which sums over scores of a rank's records leave a client, and the streams that serve these records.
struct ScoreSource {
  ReleasePath path;
  std::span<const std::unique_ptr<Stream>> streams;
};

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
  /// Whether results go over the records again, which may take as long as the rounds.
  bool evaluates = false;
  Model* model = nullptr;                  ///< whose parameters the run learns; null where it learns none
  std::optional<ScoreSource> scored = {};  ///< after the last round; none of a method that never measures its scores
  /// Adapts the state of a checkpoint to the present clients. The checkpoint lacks change number `first` of the members
  /// and all later ones. **Collective.**
  std::function<void(std::size_t first)> begin_after_changes = [](std::size_t) {};
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

/// Results of one method beside those of all methods.
struct OwnResults {
  std::string model = "the final model";  ///< name of the last model in pictures
  std::function<void()> write;            ///< writes tables
  /// Draws pictures; returns the reasons for missing ones.
  std::function<std::vector<std::string>(const std::vector<NetworkFigures>& history)> draw;
};

/// A protocol that is complete, and its results. Functions stand in the order in which they are called, on all ranks,
/// and are **collective** where nothing else is said.
class Play {
 public:
  Play() = default;
  virtual ~Play() = default;
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  [[nodiscard]] virtual Recording recording() = 0;
  /// Adds the method's own observers, and the parts of checkpoints: all state that changes in rounds.
  virtual void add_observers(std::vector<Observer*>& observers, KeptParts& parts) = 0;
  /// Plays all rounds, or fewer if a signal stops the run.
  virtual void run(const std::vector<Observer*>& observers) = 0;
  [[nodiscard]] virtual RoundsEnd end() = 0;
  /// The state of this rank's clients. Rank-local.
  [[nodiscard]] virtual const RoundView& view() const = 0;
  /// The seconds of this rank in rounds so far. Rank-local.
  [[nodiscard]] virtual TimeShares time_shares() const = 0;
  /// The models that the run ends with: d × clients of this rank.
  [[nodiscard]] virtual Released<Columns> final_models() = 0;

  /// Adds the method's results to `summary`.
  virtual void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) = 0;
  /// Completes `summary` once it has the privacy report.
  virtual void complete_summary(Summary& /*summary*/) {}
  /// Kind, architecture and loss of the model that the run ends with, for model.h5; none for a run whose result is no
  /// model of records. Rank 0's.
  [[nodiscard]] virtual std::optional<SavedModel> saved_model() const;
  /// Rank 0's.
  [[nodiscard]] virtual OwnResults own_results(const Summary& /*summary*/) { return {}; }
  /// The exit code of a run whose files are complete. May throw, on all ranks.
  [[nodiscard]] virtual ExitCode exit_code(const Summary& /*summary*/, const RoundsEnd& end) {
    return end.stopped ? ExitCode::stopped_safely : ExitCode::done;
  }
};

}  // namespace starling
