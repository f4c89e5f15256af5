/// Scores of records under a saved model.
#pragma once

#include <memory>

#include "starling/core/batch.hpp"
#include "starling/model/network/network_block.hpp"
#include "starling/record/model_file/saved_model.hpp"

namespace starling {

/// Computes scores, batch by batch. A record's scores do not depend on the rest of its batch.
class Scorer {
 public:
  /// `model` must outlive the scorer. Throws DataError if the number of parameters is not that of the architecture.
  explicit Scorer(const SavedModel& model);

  /// Writes the K scores of each record into `scores` (resized to records × K). Rows have `model.features` features,
  /// sparse ones at most. A network's scores are 0 where one of them is not finite.
  void score(const Batch& batch, Vector& scores);

 private:
  void score_linear(const Row& row, MutableView scores) const;
  [[nodiscard]] double distance(const Row& row);
  void score_network(const Batch& batch, Vector& scores);

  const SavedModel& model_;
  std::unique_ptr<NetworkBlock> network_;
  Vector dense_;  ///< rows of a batch for a network, or one difference from a point
};

}  // namespace starling
