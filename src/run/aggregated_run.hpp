/// Runs in which rank 0 makes one model for all clients.
#pragma once

#include <optional>
#include <vector>

#include "learning_run.hpp"
#include "net/root/root.hpp"
#include "output/figures/model_path.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"

namespace starling {

/// The steps that such commands share.
class AggregatedRun : public LearningRun {
 protected:
  using LearningRun::LearningRun;

  /// The protocol, once it is built.
  [[nodiscard]] virtual AggregatedRounds& protocol() const = 0;
  [[nodiscard]] virtual Model& model() const = 0;
  [[nodiscard]] virtual Round planned_rounds() const = 0;
  /// Lengths of the run's steps, by which its path is judged; none where each step comes to its own optimum.
  [[nodiscard]] virtual std::optional<StepSchedule> steps() const { return std::nullopt; }

  /// Ranks without clients play rounds too.
  [[nodiscard]] bool plays(int) const override { return true; }

  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void play_rounds(const std::vector<Observer*>& observers) override { protocol().run(observers); }
  [[nodiscard]] RoundsEnd end_rounds() override { return RoundsEnd::in_step(protocol().done(), planned_rounds()); }
  [[nodiscard]] const RoundView& view() const override { return protocol(); }
  [[nodiscard]] TimeShares time_shares() const override { return protocol().time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return protocol().models(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;

  /// The model of --start: uniform (the model's `own` start, else zero), zero, or a file with one row of `dimension_`
  /// numbers. Throws UsageError.
  [[nodiscard]] Released<Vector> start_model(const std::optional<Vector>& own = std::nullopt) const;

  std::optional<Root> root_;

 private:
  /// The score on the test set. The last one is kept, since all clients have the same model.
  [[nodiscard]] Score test_score(View theta);

  std::optional<ModelPath> path_;  ///< of runs with steps()
  Vector scored_;
  Score score_;
};

}  // namespace starling
