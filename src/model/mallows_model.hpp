/// Regression with bounded influence, for stochastic gradient descent under local differential privacy
/// (docs/methods/inference.md).
#pragma once

#include "core/numerics/contribution_mean.hpp"
#include "core/numerics/gram.hpp"
#include "loss/loss.hpp"
#include "model/model.hpp"

namespace starling {

/// Weights of records: Mallows weights ω(x̄) = min(1, 2/‖x̄‖²), or ω = 1.
enum class RowWeights { mallows, none };

/// What stands for ℓ'' in a sum of curvatures: ℓ''(s, y) itself, or ℓ'(s, y)/(s − y), the curvature of the parabola
/// that touches ℓ at s and has its least value at the label. Where scores predict labels it is none below ℓ (Huber's
/// and expectile losses), so that a step by it lowers the loss.
enum class Bend { tangent, parabola };

/// One score s = θ·x̄ with x̄ = x, or (x, 1) with an intercept, and the estimating function
///
///   Ψ(θ; x, y) = ω(x̄) ℓ'(s, y) x̄,  Ψ̇ = ω(x̄) ℓ''(s, y) x̄x̄'.
///
/// With Mallows weights ω‖x̄‖ <= √2 and ω‖x̄‖² <= 2, so ‖Ψ‖₂ <= B0 = √2 sup|ℓ'| and ‖Ψ̇‖_F <= B1 = 2 sup ℓ'' for all
/// parameters and records. No clipping is needed, which would bias the estimate. A record whose row or Ψ is not finite
/// or longer than 1e150 is out of range and adds nothing.
class MallowsModel final : public Model {
 public:
  /// `loss` must outlive the model.
  MallowsModel(const CurvedLoss& loss, std::size_t features, bool intercept, RowWeights weights);

  /// Number p of features, or p + 1 with the intercept last.
  [[nodiscard]] std::size_t dimension() const override { return features_ + (intercept_ ? 1 : 0); }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  [[nodiscard]] Link link() const { return loss_.link(); }
  /// B0; infinite without weights, and for a loss whose slope has no bound.
  [[nodiscard]] double most_influence() const;
  /// B1; infinite without weights.
  [[nodiscard]] double most_curvature() const;

  /// Returns the sum of unweighted losses and writes ΣΨ into `gradient`. With the L2 clip of a mechanism, contributions
  /// longer than the bound are scaled to it. With Mallows weights only roundings are that long.
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

  /// Writes ΣΨ̇ and then ΣΨΨ' over the batch into `triangles` (resized), as packed upper triangles, row by row
  /// (2 · d(d+1)/2 entries).
  ///
  /// In a batch of persons the sums are over persons. A person's Ψ̇ and Ψ are the means over this person's records in
  /// range, and ΨΨ' is the product of the mean Ψ with itself. A person without such a record adds nothing.
  ///
  /// Sensitivity. Let a person have records with matrices M_i = w_i x̄_i x̄_i', w_i >= 0, each of Frobenius norm B1 at
  /// most. Their mean V is positive semidefinite and ‖V‖ <= B1. The computed mean is what few roundings make of V: each
  /// product takes two, and ContributionMean errs by 3 u (1/n) Σ ‖M_i‖ <= 3 u B1 at most. Of two positive semidefinite
  /// matrices the inner product tr(V V') is not negative. So the requirements of privacy/noise/grid.hpp on F = √2 hold
  /// as they do for records: ‖c − V‖ <= γ_16 B1. The mean Ψ, as computed, is a vector p with ‖p‖ <= B0 (1 + γ_16), its
  /// product with itself is p p' up to one rounding, and tr(p p' q q') = (p·q)² >= 0.
  void curvature(View parameters, const Batch& batch, Vector& triangles) {
    curvature(parameters, batch, triangles, Bend::tangent);
  }
  /// The same with what stands for ℓ''; of records, not persons, unless that is ℓ'' itself.
  void curvature(View parameters, const Batch& batch, Vector& triangles, Bend bend);

 private:
  struct Products {
    double score;    ///< θ·x̄
    double squares;  ///< ‖x̄‖²
  };
  [[nodiscard]] Products products_of(View parameters, const Row& row) const;
  /// ω.
  [[nodiscard]] double weight_of(double squares) const;
  [[nodiscard]] Score tally(double score, double label) const;
  [[nodiscard]] static bool is_in_range(double squares, double slope);
  /// Factor that scales slope · x̄ to the clip's bound.
  [[nodiscard]] double clip_factor(const Row& row, double squares, double slope, const Clip& clip) const;
  void add(const Row& row, double slope, MutableView gradient) const;
  void add_clipped(Row row, double slope, double squares, const Clip& clip, MutableView gradient) const;
  /// Adds x̄x̄' with two weights to two triangles.
  void add_products(const Row& row, double curvature, double squared_slope, MutableView triangles) const;
  /// Adds a record's Ψ̇ and ΨΨ' to two triangles.
  void add_record(View parameters, const Row& row, double label, Bend bend, MutableView triangles) const;
  /// Adds the Ψ̇ and ΨΨ' of the person with these records.
  void add_person(View parameters, const Batch& batch, Batch::Range records, MutableView triangles);

  const CurvedLoss& loss_;
  std::size_t features_;
  bool intercept_;
  RowWeights weights_;
  bool classifies_;
  Vector part_;            ///< Ψ̇ and Ψ of a person's record
  ContributionMean mean_;  ///< of a person's records
};

}  // namespace starling
