/// What the runs in which rank 0 makes one model for all clients have in common.
#pragma once

#include "learning_run.hpp"

#include "starling/net/root/root.hpp"
#include "starling/protocol/aggregated/aggregated_rounds.hpp"

namespace starling {

class AggregatedRun : public LearningRun {
 protected:
  using LearningRun::LearningRun;

  /// Ranks without clients go along with the others' rounds.
  [[nodiscard]] bool plays(int) const override { return true; }

  /// Opens the records of the one model, which is scored on the test set if there is one. Keeps a reference.
  /// **Collective.**
  void open_model_records(Model& model, Round rounds);
  /// Of a run that ends with `models` (d × local clients, all of them equal): adds to `summary` what its rounds came
  /// to. **Collective.**
  void gather(const AggregatedRounds& protocol, const Released<Columns>& models, Model& model, Summary& summary);
  /// Of --start: uniform (the model's `own` start, else zero), zero, or a file with one row of `dimension_` numbers.
  /// Throws UsageError.
  [[nodiscard]] Released<Vector> start_model(const std::optional<Vector>& own = std::nullopt) const;

  std::optional<Root> root_;

 private:
  /// On the test set: kept for the model that was asked for last, since all clients have the same.
  [[nodiscard]] Score test_score(Model& model, View theta);

  Vector scored_;
  Score score_;
};

}  // namespace starling
