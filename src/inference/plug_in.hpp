/// Plug-in confidence intervals: Σ̂ = Â⁻¹ Ĝ Â⁻¹ from matrices released beside the path (docs/methods/inference.md,
/// "Intervals"; Xie et al., section 4.1).
#pragma once

#include <cstdint>
#include <vector>

#include "inference/path_intervals.hpp"

namespace starling {

/// A released symmetric matrix: its packed upper triangle, row by row, and the standard deviation of the noise on each
/// entry (0: none).
struct ReleasedMatrix {
  Vector triangle;
  double noise = 0;
};

/// Result of plug_in(). Eigenvalues of the released matrices are raised to floors κ:
///
///   with noise: κ = 2 σ √d, the largest eigenvalue of symmetric noise of standard deviation σ for large d (Wigner);
///     noise alone could have made a smaller eigenvalue;
///   without noise: 1e-10 for the matrix scaled to diagonal 1, so that the units of features do not matter.
///
/// In the settings of docs/methods/inference.md, "Figures", with local trust and μ >= 1, κ is at most a quarter of the
/// least eigenvalue.
struct PlugIn {
  /// The given estimate with spreads √(Σ̂_jj / n), which are infinite for undetermined coordinates.
  Spread spread;
  Vector covariance;  ///< Σ̂ / n, packed upper triangle, row by row
  /// Coordinates that the data, under this noise, do not determine, in ascending order: those with a weight v_j² of
  /// 1/100 or more in the eigenvectors v of Â with eigenvalues below κ. Examples are a column of zeros, both of two
  /// equal columns, and a constant column together with the intercept.
  std::vector<std::size_t> undetermined;
  /// Directions of coordinates that the data do not determine, of length 1: those of these eigenvectors.
  std::vector<Vector> hidden;
  double least_curvature = 0;  ///< least eigenvalue of Â before floors; without noise of the scaled matrix
  double curvature_floor = 0;  ///< κ of Â
};

/// Â⁻¹ g of a released curvature Â with its eigenvalues raised to the floor, and a direction g: Newton's step for a
/// mean estimating function g. Throws as plug_in().
[[nodiscard]] Vector newton_step(const ReleasedMatrix& curvature, View direction);

/// Plug-in intervals. `curvature` is Â, the mean of Ψ̇. `influence` is Ĝ, the covariance of one step's mean direction:
/// for K clients of m records and noise of variance σ² on each client's mean, (mean of ΨΨ'/m + σ² I)/K. `steps` is n,
/// the number of models in the estimate. Throws UsageError if sizes differ, and DataError if an entry is not finite.
[[nodiscard]] PlugIn plug_in(View estimate, const ReleasedMatrix& curvature, const ReleasedMatrix& influence,
                             std::int64_t steps);

}  // namespace starling
