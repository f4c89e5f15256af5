/// A second look at the sums of all batches together (docs/methods/renewable.md, "A second look").
#pragma once

#include <optional>

#include "protocol/curvature/block_curvature.hpp"

namespace starling {

/// Sums over batches for the model at which all of their gradients together are zero. The gradient of batch b at θ is
///
///   ψ_b + ½ (H̄_b + n_b H̄)(θ − θ_{b−1}),
///
/// with ψ_b and H̄_b at the model θ_{b−1} before the batch, and H̄ the mean curvature of a record, in which batch b has
/// the weight b² n_b, so that late batches count, whose models are near the end: the rule of trapezoids. A renewed
/// estimate has H̄_b alone in place of both.
class SecondLook {
 public:
  SecondLook(std::size_t blocks, std::size_t order);

  /// Adds the next batch, of n records: the gradient of their losses at θ, and packed triangles of their curvature
  /// there.
  void add(View gradient, View theta, View triangles, double records);

  struct Estimate {
    Vector theta;
    BlockCurvature curvature;  ///< N H̄, with what is known beside it
  };
  /// `known` is the curvature of a quadratic about 0 that belongs to no batch: prior and penalty. Nothing without
  /// records, and where the curvatures are not positive definite.
  [[nodiscard]] std::optional<Estimate> estimate(const BlockCurvature& known) const;
  /// Σ H̄_b.
  [[nodiscard]] const BlockCurvature& curvature() const { return curvature_; }

  void persist(Snapshot& snapshot) {
    snapshot(batches_, records_, weight_, curvature_, weighted_, turned_, theta_, gradient_);
  }

 private:
  std::size_t blocks_;
  std::size_t order_;
  double batches_ = 0;
  double records_ = 0;
  double weight_ = 0;  ///< Σ b² n_b
  BlockCurvature curvature_;
  BlockCurvature weighted_;  ///< Σ b² H̄_b
  Vector turned_;            ///< Σ H̄_b θ_{b−1}
  Vector theta_;             ///< Σ n_b θ_{b−1}
  Vector gradient_;          ///< Σ ψ_b
};

}  // namespace starling
