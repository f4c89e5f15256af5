/// Scores of records under a saved model, and metrics of its predictions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "model/network/network_block.hpp"
#include "output/figures/test_metrics.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/own_model/row_model.hpp"

namespace starling {

/// Computes embeddings of one party's columns under its part of a vertical model, batch by batch. A record's embedding
/// does not depend on the rest of its batch.
class Embedder {
 public:
  /// `part` must outlive the embedder. Throws DataError if its parameters, features and architecture do not fit.
  explicit Embedder(const SavedModel& part);

  [[nodiscard]] std::size_t columns() const { return network_->inputs(); }
  [[nodiscard]] std::size_t width() const { return network_->outputs(); }
  [[nodiscard]] const EmbeddingForm& form() const { return form_; }
  /// Writes the embeddings of M records (resized to M × width()), given M × columns() prepared numbers, row after row.
  void embed(View columns, Vector& embeddings);

 private:
  const SavedModel& part_;
  const EmbeddingForm& form_;
  std::unique_ptr<NetworkBlock> network_;
};

/// Computes scores, batch by batch. A record's scores do not depend on the rest of its batch.
class Scorer {
 public:
  /// `model` must outlive the scorer. Throws DataError for a part of a vertical model, and if the number of
  /// parameters is not that of the architecture or of the own model's code.
  explicit Scorer(const SavedModel& model);

  /// Writes the K scores of each record into `scores` (resized to records × K). Rows have `model.features` features,
  /// sparse ones at most. A network's scores are 0 where one of them is not finite. An own model's score is its
  /// prediction. Throws UsageError for an own model that predicts nothing, and RecordError if it fails.
  void score(const Batch& batch, Vector& scores);

 private:
  void score_linear(const Row& row, MutableView scores) const;
  [[nodiscard]] double distance(const Row& row);
  void score_network(const Batch& batch, Vector& scores);
  std::size_t open_parties();
  /// Sets `embeddings_` to those of all parties, from `dense_`.
  void embed(std::size_t records);

  const SavedModel& model_;
  const LinearForm* linear_;  ///< null for other models; likewise
  const VerticalForm* vertical_;
  std::unique_ptr<RowModel> own_;
  std::unique_ptr<NetworkBlock> network_;  ///< of a vertical model the head
  std::vector<Embedder> embedders_;        ///< of a vertical model's parties
  Vector dense_;                           ///< rows of a batch for networks, or one difference from a point
  Vector columns_;                         ///< of one party
  Vector embedding_;                       ///< of one party
  Vector embeddings_;                      ///< of all parties, a row for each record
};

/// The meaning of the model's scores; none for a model that predicts no label: a location, expert advice, or an own
/// model without predictions or without its code.
[[nodiscard]] std::optional<PredictionForm> prediction_form(const SavedModel& model);

/// Metrics of the predictions for records whose labels are in the form of the loss. Errors of a regression on a
/// standardised label are in the label's own units. The model must predict labels.
[[nodiscard]] TestMetrics metrics_of(const SavedModel& model, const Batch& records);

}  // namespace starling
