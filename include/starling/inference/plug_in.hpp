/// Plug-in confidence intervals: Σ̂ = Â⁻¹ Ĝ Â⁻¹ from matrices that were released beside the path (method 4, "Intervals";
/// the paper's section 4.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "starling/inference/path_intervals.hpp"

namespace starling {

/// A symmetric matrix as it was released: its packed upper triangle, row by row, and the standard deviation of the
/// noise on each of its entries (0: none).
struct ReleasedMatrix {
  Vector triangle;
  double noise = 0;
};

/// Least eigenvalue that a released matrix is taken to have (the paper's κ). Those given count as they are, in the
/// matrix's own units; else
///
///   with noise: κ = 2 σ √d, what the largest eigenvalue of symmetric noise of standard deviation σ is for large d
///     (Wigner): an eigenvalue below cannot be told from none;
///   without: 1e-10 of a matrix scaled to diagonal 1, so that the units of features do not matter.
///
/// In the settings of method 4 with local trust (n = 200,000, μ >= 1) κ is at most a quarter of the least eigenvalue.
struct Floors {
  std::optional<double> curvature;
  std::optional<double> influence;
};

struct PlugIn {
  /// The estimate given, and √(Σ̂_jj / n); infinite for the coordinates below.
  Spread spread;
  /// Coordinates that the data (or the data under this noise) do not determine: those with a weight v_j² of 1/100 or
  /// more in the eigenvectors v of Â whose eigenvalues were below κ. In ascending order; a column of zeros is one, of
  /// two equal columns, or a constant one and the intercept, both are.
  std::vector<std::size_t> undetermined;
  /// Â's least eigenvalue before floors (of the scaled matrix where there is no noise), and its κ.
  double least_curvature = 0;
  double curvature_floor = 0;
  /// Whether an eigenvalue of Ĝ was below its κ; raising it makes intervals longer.
  bool influence_floored = false;
};

/// `curvature` is Â, the mean of Ψ̇; `influence` is Ĝ, the covariance of one step's mean direction (for K clients of m
/// records and noise of variance σ² on each client's mean: (ΣΨΨ'/(number of records)/m + σ² I)/K); `steps` is n, over
/// which the estimate is a mean. Throws UsageError where sizes differ, and DataError where an entry is not finite.
[[nodiscard]] PlugIn plug_in(View estimate, const ReleasedMatrix& curvature, const ReleasedMatrix& influence,
                             std::int64_t steps, const Floors& floors = {});

}  // namespace starling
