// IEEE binary16, in integer patterns. Internal to the codec module.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace starling {

/// Bit pattern: a sign, 5 bits of exponent, 10 bits of fraction.
struct Half {
  std::uint16_t pattern = 0;
};

/// The nearest binary16 number, ties to even; infinite from 65,520 on. `x` is not NaN.
inline Half half_of(double x) {
  constexpr unsigned infinite = 0x7c00;
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::abs(x);
  if (size >= 65520) return {static_cast<std::uint16_t>(sign | infinite)};
  // Numbers below 2^-14 have the unit of those above. The bit that a fraction leaves out, and what rounding carries
  // over, add to the exponent.
  const int exponent = std::max(std::ilogb(size), -14);
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10U) + units))};
}

inline double number_of(Half half) {
  const int exponent = half.pattern >> 10U & 0x1f;
  const int fraction = half.pattern & 0x3ff;
  double size = std::numeric_limits<double>::infinity();
  if (exponent == 0x1f && fraction != 0) size = std::numeric_limits<double>::quiet_NaN();
  if (exponent < 0x1f) size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(0x400 + fraction, exponent - 25);
  return (half.pattern & 0x8000U) != 0 ? -size : size;
}

}  // namespace starling
