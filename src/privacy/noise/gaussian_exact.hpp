/// The Gaussian draws that a first word does not decide: exact comparisons in MPFR.
///
/// The result is round(σ z(U)), z(U) = −Φ⁻¹(U), where U in (0, 1/2) has as its binary digits after the point a 0, the
/// 63 low bits of `word`, and all bits of the words that `more` gives; of these it takes as many as are needed. σ is in
/// [1, 2^60].
#pragma once

#include <cstdint>

#include "lazy_uniform.hpp"

namespace starling {

/// Gaussian magnitude, for a result that is known to lie in [lowest, highest].
[[nodiscard]] std::int64_t choose_gaussian_magnitude(double sigma, std::uint64_t word, const MoreWords& more,
                                                     std::int64_t lowest, std::int64_t highest);

/// Gaussian magnitude, with no range known. `hint` may be any number: a nearer hint needs fewer comparisons. Throws
/// FailureError where the result is not below `bound`, which is at most 2^62.
[[nodiscard]] std::int64_t find_gaussian_magnitude(double sigma, std::uint64_t word, const MoreWords& more,
                                                   std::int64_t hint, std::int64_t bound);

}  // namespace starling
