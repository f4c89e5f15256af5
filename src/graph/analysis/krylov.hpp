/// The largest eigenvalue of a linear map by restarted Krylov iterations (Spectra). Compiled apart from all else, as
/// core/numerics/dense.cpp is.
#pragma once

#include <complex>
#include <optional>

#include "deflation.hpp"

namespace starling::spectral {

struct KrylovLimits {
  Index basis;       ///< vectors that are kept
  Index restarts;    ///< at most
  double tolerance;  ///< of the eigenvalue, as a share of it
};

struct LargestEigenvalue {
  std::complex<double> value;
  Eigen::VectorXcd vector;  ///< of norm one
  Index restarts;           ///< that it took
};

/// The eigenvalue of the largest modulus, from a start vector; none where it is not found within the limits. The matrix
/// of a `symmetric` map is.
[[nodiscard]] std::optional<LargestEigenvalue> largest_eigenvalue(const Map& map, bool symmetric, const VectorXd& start,
                                                                  const KrylovLimits& limits);

}  // namespace starling::spectral
