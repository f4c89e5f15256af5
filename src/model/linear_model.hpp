/// Models whose records have linear scores, and the model that is a point.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/numerics/weighted_sum.hpp"
#include "loss/loss.hpp"
#include "model/model.hpp"

namespace starling {

/// K linear scores s_k = θ_k·x (+ intercept). Parameters are K runs of `features` weights, each followed by its
/// intercept if there is one. A record's gradient is the outer product δ ⊗ x, so its L1 and L2 norms are products of
/// the norms of δ and x: no per-record gradient is formed, and sparse rows stay sparse.
class LinearModel final : public Model {
 public:
  LinearModel(const Loss& loss, std::size_t features, bool intercept);

  [[nodiscard]] std::size_t dimension() const override { return loss_.scores() * stride_; }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;
  [[nodiscard]] std::optional<Vector> constant(View scores) const override;

 private:
  /// `measured` is the norm that decides whether a record is in range. For `none` and `component` finite derivatives
  /// decide.
  Score add_up(View parameters, const Batch& batch, const Clip& clip, ClipKind measured, Vector& gradient);
  void look_at_rows(View parameters, const Batch& batch, std::size_t first, ClipKind kind);
  template <class Of, class NormOf>
  void look_at_rows(View parameters, const Batch& batch, std::size_t first, Of of, NormOf norm_of);
  template <class Of, class NormOf>
  void look_at_any_rows(View parameters, const Batch& batch, std::size_t first, Of of, NormOf norm_of);
  template <class Size, class Of, class NormOf>
  void look_at_rows_of(Size n, View parameters, const Batch& batch, std::size_t first, Of of, NormOf norm_of);
  void compute_scores(View parameters, const Row& row, std::size_t from, MutableView scores) const;
  [[nodiscard]] double intercept_of(View weights) const { return intercept_ ? weights[features_] : 0; }
  void add_gradients(const Batch& batch, std::size_t first, const Clip& clip, MutableView gradient);
  void add_dense_gradients(const Batch& batch, std::size_t first, MutableView gradient);
  /// Sets factors_. Whether all records at hand are in range.
  bool find_factors(const Clip& clip, ClipKind measured);
  template <class Norm>
  bool find_factors_by(double bound, Norm norm_of_derivative);
  void tally_in_range(View labels, LossTally& tally, std::int64_t& out_of_range);
  void add_gradient(const Row& row, View derivative, double factor, MutableView gradient) const;
  void add_component_clipped(const Row& row, View derivative, double bound, MutableView gradient) const;

  const Loss& loss_;
  std::size_t features_;
  bool intercept_;
  std::size_t stride_;      ///< parameters per score
  std::size_t per_record_;  ///< scores of a record
  std::size_t at_once_;     ///< records that are evaluated together
  // Entries of these records, one record after the other:
  std::size_t count_ = 0;
  Vector scores_;
  Vector derivatives_;
  Vector norms_;             ///< norms of rows
  Vector factors_;           ///< factors of gradients; 0 for a record out of range
  std::vector<Term> terms_;  ///< factors and their rows
};

/// A point x ∈ R^d, where d is the number of features. The loss of a record z is ρ(r) with r = ‖x − z‖₂ and ρ a loss of
/// one score at label 0. Labels of records are not used. The gradient is ρ'(r) (x − z) / r, and 0 at r = 0.
class LocationModel final : public Model {
 public:
  /// Throws UsageError for a loss that classifies.
  LocationModel(const Loss& loss, std::size_t features);

  [[nodiscard]] std::size_t dimension() const override { return difference_.size(); }
  [[nodiscard]] bool classifies() const override { return false; }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

 private:
  /// Writes x − z into difference_ and returns its norm.
  double compare(View parameters, const Row& row);
  /// Adds the clipped gradient. Returns false, and adds nothing, for a record out of range.
  bool add_clipped(double distance, const Clip& clip, MutableView gradient) const;

  const Loss& loss_;
  Vector difference_;
};

}  // namespace starling
