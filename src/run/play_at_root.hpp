/// Protocols in which rank 0 makes one model for all clients.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/model.hpp"
#include "net/root/root.hpp"
#include "output/figures/model_path.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"
#include "run/stages/method.hpp"
#include "run/stages/play.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

class AggregatedClients;
struct LearningConfig;

/// Such a protocol in a run that has begun, and what all of them record and result in.
class PlayAtRoot : public Play {
 public:
  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void run(const std::vector<Observer*>& observers) override { protocol_->run(observers); }
  [[nodiscard]] RoundsEnd end() override { return RoundsEnd::in_step(protocol_->done(), planned_); }
  [[nodiscard]] const RoundView& view() const override { return *protocol_; }
  [[nodiscard]] TimeShares time_shares() const override { return protocol_->time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return protocol_->models(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;

 protected:
  /// `planned` rounds. `steps` are their lengths, by which the run's path is judged; none where each step comes to its
  /// own optimum. Keeps references.
  PlayAtRoot(const BegunRun& begun, const Method& method, Model& model, Round planned,
             const std::optional<StepSchedule>& steps);

  [[nodiscard]] Round planned() const { return planned_; }

  /// The model whose gradients are clipped and released: where persons are the unit, it clips what a person adds as a
  /// whole.
  [[nodiscard]] Model& learned() { return persons_ ? *persons_ : model_; }
  /// This rank's clients, with their streams: call it once.
  [[nodiscard]] AggregatedClients clients_of_rank(const BegunRun& begun);

  RunContext& run_;
  const Method& method_;
  Model& model_;
  Root root_;
  std::unique_ptr<AggregatedRounds> protocol_;  ///< the derived class makes it

 private:
  /// The score on the test set. The last one is kept, since all clients have the same model.
  [[nodiscard]] Score test_score(View theta);

  Round planned_;
  std::unique_ptr<Model> persons_;  ///< of runs of unit person
  std::optional<ModelPath> path_;   ///< of runs with steps
  Vector scored_;
  Score score_;
};

}  // namespace starling
