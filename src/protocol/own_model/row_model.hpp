/// Own models as models: clipped sums of the gradients that a user's code gives row by row.
#pragma once

#include <memory>
#include <optional>

#include "loss/loss.hpp"
#include "model/model.hpp"
#include "protocol/own_model/own_model.hpp"

namespace starling {

/// The place of a loss beside an own model, which has its losses itself: labels stay as they are.
class OwnLoss final : public Loss {
 public:
  explicit OwnLoss(const OwnModel& own);
  /// That of the model, where it says one; of classes what the slope at even odds is of that at the start; else that of
  /// the squared loss.
  [[nodiscard]] std::optional<double> usual_slope(double label) const override { return slope_.value_or(label); }
  [[nodiscard]] double label(double raw) const override { return raw; }
  /// Never called: an own model computes its losses itself.
  [[nodiscard]] double value(View scores, double label) const override;
  void derivative(View scores, double label, MutableView derivative) const override;
  [[nodiscard]] bool correct(View scores, double label) const override;

 private:
  std::optional<double> slope_;  ///< none of numbers, whose slope is as long as labels are
};

/// Whether all that a rule can know of this model are its gradients at the start.
[[nodiscard]] inline bool asks_gradients(const OwnModel& own) {
  return !own.slope();
}
/// Whether such a model predicts numbers.
[[nodiscard]] inline bool learns_numbers(const OwnModel& own) {
  return asks_gradients(own) && !own.classifies();
}

/// An own model. Each record's gradient is a row, which `clip_rows` clips to the bound; the sum adds the rows in the
/// order of the records. So what privacy/noise/grid.hpp requires holds whatever the own model writes. A record whose
/// loss or row is not finite, or whose row is longer than 1e150, is out of range.
///
/// Rows are asked for in chunks of at most 64 MB. Sparse records are made dense in these chunks. Rows are clipped and
/// added in blocks that stay in a near cache; those that the own model keeps are copied into such a block first, so
/// that what is added is what was measured. Throws FailureError if the own model writes beyond the end of what it was
/// given, and RecordError if it throws.
class RowModel : public Model {
 public:
  /// Throws UsageError for a dimension of 0.
  RowModel(std::shared_ptr<OwnModel> own, std::size_t features);

  [[nodiscard]] std::size_t dimension() const override { return dimension_; }
  [[nodiscard]] bool classifies() const override { return classifies_; }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;
  /// The own model is asked for a record of the canary before the others: ±1000 in feature 0, zeros, label 1. What it
  /// says of it gives way to a gradient of four times the clip.
  Score evaluate_with_canary(View parameters, const Canary& canary, const Batch& others, const Clip& clip,
                             Vector& gradient) override;
  /// Writes a prediction of the label for each record (resized to records). The own model does not see their labels.
  /// Throws UsageError for an own model that does not predict.
  void predict(View parameters, const Batch& batch, Vector& predictions);
  /// The own start, or zeros.
  [[nodiscard]] std::optional<Vector> initial(std::uint64_t seed) const override;

 protected:
  /// Writes the factors that clip these rows, which a clip by components changes before; 0 for a row out of range.
  virtual void find_factors(MutableView rows, const Clip& clip, MutableView factors) const;

 private:
  /// Calls f(records, number of the first) for chunk after chunk.
  template <class F>
  void in_chunks(const Batch& batch, F f);
  [[nodiscard]] RecordTable table_of(const Batch& batch, std::size_t first, std::size_t count);
  /// Asks for losses and gradients, and for predictions where these are right or wrong.
  void ask_gradients(View parameters, const RecordTable& records);
  /// Asks for losses, without gradients where the own model can do so, and for predictions as well.
  void ask_losses(View parameters, const RecordTable& records);
  void ask_predictions(View parameters, const RecordTable& records);
  /// Clips and adds the gradients of these records, which it was asked for, and the records' scores.
  void add_rows(const RecordTable& records, const Clip& clip, MutableView gradient, Score& total);
  /// Room for so many numbers of rows, all of them NaN.
  MutableView room_for_rows(std::size_t size);
  /// The rows of `count` records from `first` on, to be changed.
  MutableView block_of(std::size_t first, std::size_t count);
  [[nodiscard]] Score score_of(const RecordTable& records, std::size_t i) const;

  std::shared_ptr<OwnModel> own_;
  std::size_t features_;
  std::size_t dimension_;
  bool classifies_;
  std::size_t at_once_;      ///< records of a chunk
  Vector x_;                 ///< dense features of sparse records
  Vector losses_;            ///< and numbers that nobody may change, as rows_ and predictions_ have
  Vector rows_;              ///< of a chunk, or of a block where the own model keeps its rows
  std::size_t cleared_ = 0;  ///< numbers at the beginning of rows_ that are NaN again, with a fence behind them
  Vector predictions_;
  Vector factors_;                ///< of a block
  std::optional<Canary> canary_;  ///< in the place of the first record that is added next
};

}  // namespace starling
