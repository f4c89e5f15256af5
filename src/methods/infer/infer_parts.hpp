/// The settled parts of a run of `starling infer`, and the engine that is made of them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/columns.hpp"

namespace starling {

class Accounts;
class ColumnCheck;
class CurvedLoss;
class InferEngine;
class MallowsModel;
class Model;
class RunContext;
class Schedule;
class Stream;
class WarmUp;
struct BegunRun;
struct DataShape;
struct InferConfig;
struct IntervalFacts;

/// Graph, model and start of a run of `starling infer`, once they are settled.
struct InferParts {
  explicit InferParts(InferConfig& of_run);
  ~InferParts();

  InferConfig& config;
  std::unique_ptr<Schedule> schedule;      ///< of runs with --topology
  std::optional<double> contraction = {};  ///< of the graph, per exchange; none where it is not known
  std::unique_ptr<CurvedLoss> loss;
  std::unique_ptr<MallowsModel> model;
  Released<Vector> start = declare_public(Vector());
  std::unique_ptr<WarmUp> warm_up;                ///< of runs with --warmup-share, once their steps are known
  std::unique_ptr<ColumnCheck> columns;           ///< once the model is open
  std::unique_ptr<IntervalFacts> interval_facts;  ///< once the ranks agree on the model
  std::unique_ptr<Model> persons;                 ///< of runs of unit person
  std::set<std::size_t> hidden = {};              ///< features that a warm-up could not tell from noise

  [[nodiscard]] std::vector<std::string> coefficient_names(const DataShape& shape) const;
  /// Says which features the warm-up could not tell from noise, if there are any.
  void note_hidden(RunContext& run) const;
};

/// An engine with these streams and accounts, which belong to this rank's clients, and the keys of the run. Plays the
/// warm-up, if there is one. **Collective.**
[[nodiscard]] std::unique_ptr<InferEngine> make_engine(const BegunRun& begun, InferParts& parts,
                                                       std::vector<std::unique_ptr<Stream>> streams,
                                                       Accounts& accounts);

}  // namespace starling
