/// Linear models with intercept and their curvature, for second-order methods (docs/methods/renewable.md).
#pragma once

#include <limits>
#include <memory>

#include "core/numerics/contribution_mean.hpp"
#include "core/numerics/gram.hpp"
#include "loss/loss.hpp"
#include "model/linear_model.hpp"
#include "model/model.hpp"

namespace starling {

/// One-vs-rest loss of K scores and a label in {0, …, K − 1}: the sum of `loss` over the scores, with label 1 for the
/// class's own score and −1 for the others. It predicts the class of the largest score. `loss` must outlive it. Throws
/// UsageError for a loss that does not classify and for fewer than 2 classes.
[[nodiscard]] std::unique_ptr<Loss> make_one_vs_rest(const CurvedLoss& loss, std::size_t classes);

/// K scores s_k = θ_k·x̄ with x̄ = (x, 1). For K = 1 the score goes to the loss; for K > 1 the loss is one-vs-rest over
/// the classes 0, …, K − 1 (make_one_vs_rest). Parameters are K runs of p weights and an intercept, as in LinearModel.
///
/// With a finite `row_bound` C₂ a row x̄ longer than C₂ (L2) is scaled to it, for margin, gradient and curvature alike.
/// A record's gradient is then at most √K · C₂ · most_slope for all parameters (docs/methods/renewable.md). A record
/// whose row is not finite or longer than 1e150 is out of range and adds nothing, with or without a bound.
class CurvedModel final : public Model {
 public:
  /// `loss` must outlive the model.
  CurvedModel(const CurvedLoss& loss, std::size_t features, std::size_t classes = 1,
              double row_bound = std::numeric_limits<double>::infinity());

  /// K (p + 1).
  [[nodiscard]] std::size_t dimension() const override { return classes_ * order_; }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  [[nodiscard]] std::size_t classes() const { return classes_; }
  [[nodiscard]] double row_bound() const { return row_bound_; }
  /// p + 1.
  [[nodiscard]] std::size_t order() const { return order_; }
  /// Entries of the packed triangles of all K matrices.
  [[nodiscard]] std::size_t triangles() const { return classes_ * triangle_size(order_); }

  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

  /// Weight of a record in a Gram product: its curvature, the loss's most_curvature, or its squared slope.
  enum class Weight { curvature, majoriser, squared_slope };
  /// Writes the packed upper triangles of Σ_i w_i x̄_i x̄_iᵀ over the batch, class after class, into `triangles`
  /// (resized).
  ///
  /// In a batch of persons the sum is over persons, each with the mean of the products of this person's records in
  /// range. A person without such a record adds nothing.
  ///
  /// Sensitivity. With a row bound C₂ and curvatures as weights, the K products of a record have together a Frobenius
  /// norm of at most B = √K · C₂² · most_curvature, and each is positive semidefinite. Both hold for the mean of a
  /// person's products. ContributionMean errs by at most 3 u B, so the computed mean is what few roundings make of it.
  /// So replacing a person moves the sum by at most √2 B, as replacing a record does (privacy/noise/grid.hpp).
  void gram(View parameters, const Batch& batch, Weight weight, Vector& triangles);

  /// Loss of one record and one class at a score of 0; for losses that classify.
  [[nodiscard]] double loss_at_zero() const;

 private:
  /// Records of the batch that are in range, with rows (x, 1) scaled to the bound if there is one.
  [[nodiscard]] const Batch& in_range(const Batch& batch);
  [[nodiscard]] double score_of(View weights, const Row& row) const;
  [[nodiscard]] double weight_of(double score, double label, Weight weight) const;
  [[nodiscard]] double label_of(double label, std::size_t k) const;
  /// The sum over records. Returns the number of records in range.
  std::size_t gram_of_records(View parameters, const Batch& batch, Weight weight, Vector& triangles);
  /// The mean over records, in mean_.
  void average_gram(View parameters, const Batch& batch, Batch::Range records, Weight weight);
  void make_dense(const Batch& batch);

  const CurvedLoss& loss_;
  std::size_t classes_;
  std::size_t features_;
  std::size_t order_;
  double row_bound_;
  bool unbounded_;
  std::unique_ptr<Loss> one_vs_rest_;  ///< for K > 1
  LinearModel linear_;                 ///< over x with an intercept, or over the scaled x̄
  Batch used_;
  Vector rows_;     ///< x̄, dense and scaled, row after row
  Vector weights_;  ///< weights of the records
  Batch own_;       ///< records of one person, or of persons with one record each
  Vector part_;     ///< their products
  ContributionMean mean_;
};

}  // namespace starling
