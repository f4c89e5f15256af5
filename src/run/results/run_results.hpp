/// The records and results of a run, whatever its method.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/boundary.hpp"
#include "run/stages/play.hpp"

namespace starling {

class Method;
class Model;
class RunCheckpoints;
class RunContext;
class RunRecords;
class Summary;
struct BegunRun;
struct LocalResults;
struct RecordingFacts;

/// The rounds of a run after they ended.
struct Outcome {
  const Recording& recording;
  RoundsEnd end;
  double wall = 0;  ///< seconds of rounds, in all processes of the run
};

/// Facts for the records of a run. Adds notes. **Collective.**
[[nodiscard]] RecordingFacts recording_facts(const BegunRun& begun, const Method& method, const Play& play,
                                             const Recording& recording);
/// Prints the notes so far, on rank 0.
void tell_notes(const RunContext& run);

/// Results of this rank's clients, but for debts and for what a network layer counts. Scores `models` on the test set,
/// if there is one and `model` is given.
[[nodiscard]] LocalResults local_results(const RunContext& run, const Method& method, const Play& play,
                                         Released<Columns> models, Model* model);
/// A summary with the keys that do not depend on the rounds.
[[nodiscard]] Summary begin_summary(const BegunRun& begun, std::size_t dimension, Round planned, double wall);
/// The origin of the run's model, for its file.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> origin_of_model(const BegunRun& begun,
                                                                               const Summary& summary);
/// States that all clients have rank 0's model. A mean of equal models would round.
void set_one_model(Summary& summary, View theta);

/// Ends a run after its last round: closes its records, gathers and writes its results, and removes checkpoints that
/// nobody needs any more. **Collective.**
[[nodiscard]] ExitCode finish_run(const BegunRun& begun, const Method& method, Play& play, RunRecords& records,
                                  RunCheckpoints& checkpoints, Outcome outcome);

}  // namespace starling
