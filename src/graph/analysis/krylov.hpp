/// Eigenvalues of largest modulus by iterations in Krylov spaces: of maps that are too large for a matrix.
#pragma once

#include "deflation.hpp"

namespace starling::spectral {

/// Work of one iteration scheme, in edges visited: some seconds.
inline constexpr double work_limit = 1e9;

/// Sets `second` and `tolerance` from iterations of Lanczos that begin with a vector; NaN where the work that is
/// allowed has not even come near. The map is symmetric, and one application visits `cost` edges.
void find_by_lanczos(const Map& map, const Deflation& deflate, VectorXd start, double cost, Spectrum& spectrum);
/// The same from restarted iterations of Arnoldi, of any map.
void find_by_arnoldi(const Map& map, const Deflation& deflate, VectorXd start, double cost, Spectrum& spectrum);

}  // namespace starling::spectral
