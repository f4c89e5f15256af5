/// Standard errors of an estimate from noisy sums of gradients, by how the sums of batches differ
/// (docs/methods/renewable.md, "Standard errors under noise").
#pragma once

#include <cstdint>
#include <string>

#include "protocol/curvature/block_curvature.hpp"

namespace starling {

/// Sums over batches for one step from all of their models at once,
///
///   θ̂ = θ̄ − A⁻¹ Σ ψ_b,   A = Σ H̄_b,   θ̄ = mean θ_{b−1},
///
/// with ψ_b the gradient of batch b at θ_{b−1}, penalty and noise included. θ̂ is the mean of m terms θ_{b−1} − m A⁻¹
/// ψ_b, and their spread has both records and noise in it, whatever the loss. So nothing else has to be known of
/// either.
class BatchSandwich {
 public:
  BatchSandwich(std::size_t blocks, std::size_t order);

  /// Adds a batch: ψ and θ of d = blocks · order entries, and H̄, penalty included.
  void add(View psi, View theta, const BlockCurvature& curvature);
  [[nodiscard]] std::int64_t batches() const { return batches_; }

  struct Estimate {
    Vector theta;
    Vector variances;  ///< of the entries of θ̂, with m − 1 degrees of freedom
  };
  /// Throws DataError, which names `where`, with fewer than 10 batches or where A is not positive definite.
  [[nodiscard]] Estimate estimate(const std::string& where) const;

  void persist(Snapshot& snapshot) { snapshot(batches_, curvature_, psi_, theta_, of_psi_, cross_, of_theta_); }

 private:
  std::size_t blocks_;
  std::size_t order_;
  std::int64_t batches_ = 0;
  BlockCurvature curvature_;  ///< A
  Vector psi_;                ///< Σ ψ
  Vector theta_;              ///< Σ θ
  Vector of_psi_;             ///< Σ ψψᵀ, a packed triangle for each block
  Vector cross_;              ///< Σ ψθᵀ, a matrix for each block, row after row
  Vector of_theta_;           ///< Σ θ_i², of each entry
};

}  // namespace starling
