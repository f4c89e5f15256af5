/// ln(1 + x) for 0 ≤ x ≤ 1 in one code path without branches, like e^x in core/numerics/exponential.hpp.
#pragma once

#include <array>
#include <cstddef>

namespace starling {

namespace logarithm_parts {

inline constexpr double sqrt2 = 0x1.6a09e667f3bcdp+0;
/// ln 2 in two parts.
inline constexpr double ln2_head = 0x1.62e42fefa39efp-1;
inline constexpr double ln2_tail = 0x1.abc9e3b39803fp-56;

/// 2 / (2 j + 1) for j = 1 … 11.
inline constexpr std::array<double, 11> coefficients = [] {
  std::array<double, 11> result{};
  for (std::size_t j = 1; j <= result.size(); ++j) result[j - 1] = 2 / static_cast<double>(2 * j + 1);
  return result;
}();

}  // namespace logarithm_parts

/// ln(1 + x) for 0 ≤ x ≤ 1, less than one unit in the last place from the true value; NaN for NaN. Needs no fused
/// operations.
///
/// u = 1 + x as rounded leaves c = x − (u − 1), exactly (Sterbenz 1974), and ln(1 + x) = ln u + c/u but for terms below
/// 2^-107. With u = 2^k (1 + f), √½ < 1 + f ≤ √2, and s = f / (2 + f), ln(1 + f) = 2 artanh s = 2s + 2s³/3 + …, here as
/// far as s^23: the rest is below 2^-60 of it. Since s f = f²/2 − s f²/2, the first term is 2s = f − f²/2 + s f²/2 (as
/// in Sun's fdlibm, 1993), of which f is exact and the others are small.
[[nodiscard]] inline double logarithm_of_one_and(double x) {
  using namespace logarithm_parts;
  const double u = 1 + x;
  const double c = x - (u - 1);
  const double k = u > sqrt2 ? 1 : 0;
  const double f = (u > sqrt2 ? 0.5 * u : u) - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const auto& a = coefficients;
  const double even = w * (a[1] + w * (a[3] + w * (a[5] + w * (a[7] + w * a[9]))));
  const double odd = z * (a[0] + w * (a[2] + w * (a[4] + w * (a[6] + w * (a[8] + w * a[10])))));
  const double half_square = 0.5 * f * f;
  const double small = k * ln2_tail + c / u;
  return k * ln2_head - ((half_square - (s * (half_square + (even + odd)) + small)) - f);
}

}  // namespace starling
