/// Figures of the batches of renewable estimation that show whether its intervals hold.
#pragma once

namespace starling {

/// What the batches after the start say of the intercepts, by sums that rank 0 has.
struct BatchScores {
  double information = 0;  ///< mean Σ ℓ'' of a batch, the least of rare classes (p (1 − p) < 0.04); infinite without
  /// |Σ ℓ'| in standard errors over the second half of the batches, each at the model before it, of the class with
  /// most. Where the estimate has settled, Σ ℓ' has mean 0.
  double drift = 0;
};

}  // namespace starling
