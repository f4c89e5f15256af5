/// Graph, model, warm-up and facts of intervals of a run of `starling infer`, once they are settled.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "column_check.hpp"
#include "infer_config.hpp"
#include "infer_engine.hpp"
#include "interval_results.hpp"
#include "protocol/person_model.hpp"
#include "run/stages/method.hpp"
#include "warm_up.hpp"

namespace starling {

struct InferParts {
  InferConfig& config;
  Tuning tuning = {};
  std::unique_ptr<Schedule> schedule = nullptr;  ///< of runs with --topology
  std::optional<double> contraction = {};        ///< of the graph, per exchange; none where it is not known
  std::unique_ptr<CurvedLoss> loss = nullptr;
  std::unique_ptr<MallowsModel> model = nullptr;
  Released<Vector> start = declare_public(Vector());
  std::optional<WarmUp> warm_up = {};                ///< of runs with --warmup-share, once their steps are known
  std::optional<ColumnCheck> columns = {};           ///< once the model is open
  std::optional<IntervalFacts> interval_facts = {};  ///< once the ranks agree on the model
  std::optional<PersonModel> persons = {};           ///< of runs of unit person
  std::set<std::size_t> hidden = {};                 ///< features that a warm-up could not tell from noise

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
