/// Models: from parameters and records to losses and clipped gradients.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "starling/core/batch.hpp"
#include "starling/core/boundary.hpp"
#include "starling/core/numerics/weighted_sum.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/loss/loss.hpp"

namespace starling {

/// Sums over the records of a batch, under one model. A record is *out of range* if its gradient is not finite or
/// longer than 1e150 (networks of floats: 1e15), which could not be clipped exactly: it adds nothing. So is a loss
/// alone.
struct Score {
  double loss = 0;
  std::int64_t correct = 0;       ///< records predicted right; 0 for losses that do not classify
  std::int64_t records = 0;       ///< records in range: those that `loss` and `correct` count
  std::int64_t out_of_range = 0;  ///< all others

  Score& operator+=(const Score& other) {
    loss += other.loss;
    correct += other.correct;
    records += other.records;
    out_of_range += other.out_of_range;
    return *this;
  }
  /// The score of public records, where none is left out: the loss is infinite if one was out of range.
  [[nodiscard]] Score of_all() const {
    const double total = out_of_range > 0 ? std::numeric_limits<double>::infinity() : loss;
    return {total, correct, records + out_of_range, 0};
  }
  void persist(Snapshot& snapshot) { snapshot(loss, correct, records, out_of_range); }
};

/// The score of one record: out of range if the loss is not finite.
[[nodiscard]] inline Score score_of_record(double loss, bool correct) {
  return std::isfinite(loss) ? Score{loss, correct ? 1 : 0, 1, 0} : Score{0, 0, 0, 1};
}

class Model {
 public:
  virtual ~Model() = default;
  /// d, the number of parameters.
  [[nodiscard]] virtual std::size_t dimension() const = 0;
  [[nodiscard]] virtual bool classifies() const = 0;
  /// Score of the batch before any step on it, and Σ clip(∇f_i) over its records into `gradient` (resized to d), in
  /// one pass. Each record's gradient is clipped as `clip` says: with kinds l1 and l2 its norm is at most clip.bound
  /// up to a few roundings per entry, which the mechanism's margin covers (method 6). A record that is out of range
  /// adds nothing, so that nothing but the sum depends on a record: no record is an error.
  virtual Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) = 0;
  [[nodiscard]] virtual Score score(View parameters, const Batch& batch) = 0;
  /// Start values that belong to the model, made of a public seed alone; none where starts are the domain's matter.
  [[nodiscard]] virtual std::optional<Vector> initial(std::uint64_t /*seed*/) const { return std::nullopt; }
  /// A parameter beyond it in magnitude is no result of learning: runs end there, whatever the records.
  [[nodiscard]] virtual double largest_parameter() const { return 1e100; }
};

/// K linear scores, s_k = θ_k·x (+ intercept): parameters are K runs of `features` weights, each followed by its
/// intercept if there is one. The gradient of a record is an outer product δ ⊗ x, so its L1 and L2 norms are those of δ
/// and x multiplied: no per-record gradient is ever formed, and sparse rows stay sparse.
class LinearModel final : public Model {
 public:
  LinearModel(const Loss& loss, std::size_t features, bool intercept);

  [[nodiscard]] std::size_t dimension() const override { return loss_.scores() * stride_; }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

 private:
  /// `measured` is the norm in which records are found to be in range; none for `none` and `component`, where finite
  /// derivatives are.
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
  /// Into factors_; whether all records at hand are in range.
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
  // Of these records: entries of one after those of the other.
  std::size_t count_ = 0;
  Vector scores_;
  Vector derivatives_;
  Vector norms_;             ///< of rows
  Vector factors_;           ///< what gradients are scaled by; 0 of a record that is out of range
  std::vector<Term> terms_;  ///< these and their rows
};

/// A point x ∈ R^d, d = number of features: a record z costs ρ(‖x − z‖₂), where ρ is a loss of one score at label 0.
/// The records' own labels are not used. The gradient is ρ'(r) (x − z) / r with r = ‖x − z‖₂, and 0 at r = 0.
class LocationModel final : public Model {
 public:
  /// Throws UsageError for a loss that classifies.
  LocationModel(const Loss& loss, std::size_t features);

  [[nodiscard]] std::size_t dimension() const override { return difference_.size(); }
  [[nodiscard]] bool classifies() const override { return false; }
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

 private:
  /// x − z into difference_; returns its norm.
  double compare(View parameters, const Row& row);
  /// Whether the record is in range; if not, nothing is added.
  bool add_clipped(double distance, const Clip& clip, MutableView gradient) const;

  const Loss& loss_;
  Vector difference_;
};

}  // namespace starling
