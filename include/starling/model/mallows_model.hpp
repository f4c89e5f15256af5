/// Regression with bounded influence, for stochastic gradient descent under local differential privacy (method 4).
#pragma once

#include "starling/core/numerics/gram.hpp"
#include "starling/model/model.hpp"

namespace starling {

/// Whether a record's row bounds its own weight: ω(x̄) = min(1, 2/‖x̄‖²), or ω = 1.
enum class RowWeights { mallows, none };

/// One score s = θ·x̄ with x̄ = x, or (x, 1) with an intercept, and the estimating function
///
///   Ψ(θ; x, y) = ω(x̄) ℓ'(s, y) x̄,  Ψ̇ = ω(x̄) ℓ''(s, y) x̄x̄'.
///
/// With Mallows weights ω‖x̄‖ <= √2 and ω‖x̄‖² <= 2, so that ‖Ψ‖₂ <= B0 = √2 sup|ℓ'| and ‖Ψ̇‖_F <= B1 = 2 sup ℓ''
/// whatever the parameters and the record: nothing needs to be clipped, which would bias the estimate.
/// A record whose row or Ψ is not finite or longer than 1e150 is out of range and adds nothing.
class MallowsModel final : public Model {
 public:
  /// `loss` must outlive it.
  MallowsModel(const CurvedLoss& loss, std::size_t features, bool intercept, RowWeights weights);

  /// p, or p + 1 with the intercept last.
  [[nodiscard]] std::size_t dimension() const override { return features_ + (intercept_ ? 1 : 0); }
  [[nodiscard]] bool classifies() const override { return loss_.classifies(); }
  /// B0; infinite without weights, and for a loss without a bound on its slope.
  [[nodiscard]] double most_influence() const;
  /// B1, likewise.
  [[nodiscard]] double most_curvature() const;

  /// Unweighted losses as a score, and ΣΨ into `gradient`. With the L2 clip of a mechanism, contributions longer than
  /// its bound are scaled to it (which Mallows weights let happen by roundings only).
  Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) override;
  [[nodiscard]] Score score(View parameters, const Batch& batch) override;

  /// ΣΨ̇ and ΣΨΨ' over the batch as packed upper triangles, row by row, one after the other (2 · d(d+1)/2 entries),
  /// into `triangles` (resized).
  void curvature(View parameters, const Batch& batch, Vector& triangles);

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
  /// What scales slope · x̄ to the clip's bound.
  [[nodiscard]] double clip_factor(const Row& row, double squares, double slope, const Clip& clip) const;
  void add(const Row& row, double slope, MutableView gradient) const;
  void add_clipped(Row row, double slope, double squares, const Clip& clip, MutableView gradient) const;
  /// x̄x̄' with two weights into two triangles.
  void add_products(const Row& row, double curvature, double squared_slope, MutableView triangles) const;

  const CurvedLoss& loss_;
  std::size_t features_;
  bool intercept_;
  RowWeights weights_;
  bool classifies_;
};

}  // namespace starling
