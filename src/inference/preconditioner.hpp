/// Coordinates in which noisy steps have one natural length (docs/methods/inference.md, "Warm-up").
#pragma once

#include <cstddef>
#include <vector>

#include "core/columns.hpp"

namespace starling {

/// Weighted mean of the products z z' of records, with noise. z = (x, 1), or (x, 1, y) with labels.
struct NoisyMoments {
  Vector triangle;    ///< packed upper triangle; entries for x, 1 and y in this order
  double noise = 0;   ///< standard deviation of the noise on a diagonal entry; others have 1/√2 of it
  bool label = true;  ///< whether y is in it
};

/// The map of a record's features x to x̃ = L (x − m), whose covariance is about I, and of parameters with it.
///
/// The constant's own entry of the moments is the mean weight w̄. Moments over w̄ give the mean m and the covariance S of
/// the features, whose eigenvalues are raised to the size ν = s √(2d)/w̄ of those of the noise alone: d the order of the
/// moments, s the deviation. With S = U Λ U', L = Λ^(−1/2) U'. Without an intercept m is 0, and S is the second moment.
class Preconditioner {
 public:
  /// The identity, which starts at 0.
  Preconditioner(std::size_t features, bool intercept);
  /// The identity, too, where noise hides the mean weight: then no scale was found.
  Preconditioner(const NoisyMoments& moments, std::size_t features, bool intercept);
  /// As numbers() gave them.
  Preconditioner(View numbers, std::size_t features, bool intercept);

  /// The same beside features that are left out, whose coordinates are they themselves. `left_out` is ascending, and
  /// `features` is the number of all.
  [[nodiscard]] Preconditioner beside(std::size_t features, const std::vector<std::size_t>& left_out) const;

  /// Writes x̃.
  void features(View x, MutableView image) const;
  /// The parameters for x̃ (and the intercept) that give the scores of `theta` for x.
  void coordinates(View theta, MutableView image) const;
  /// Turns a direction in the parameters for x̃ into that in the parameters for x.
  void to_parameters(MutableView direction);

  /// Whether the moments tell the scales of the features from noise.
  [[nodiscard]] bool found_scales() const { return found_[0] > 0; }
  /// The least-squares parameters for x by the moments; zeros without labels.
  [[nodiscard]] View start() const { return start_; }
  /// Columns that have most of a direction in which the features vary less than noise lets see.
  [[nodiscard]] std::vector<std::size_t> hidden() const;
  /// All of this, for another rank.
  [[nodiscard]] Vector numbers() const;

 private:
  bool intercept_;
  Vector mean_;        ///< m
  Columns whitening_;  ///< row k of L in column k
  Columns inverse_;    ///< row j of L⁻¹ in column j
  Vector start_;
  Vector hidden_;    ///< 1 or 0, by feature
  Vector found_{0};  ///< 1 or 0: whether scales were found
  Vector scratch_;
};

}  // namespace starling
