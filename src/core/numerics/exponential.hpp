/// The exponential function in one code path without branches. A loop over it is vectorised, four or eight numbers at a
/// time. The bits of a result depend on the argument alone, not on the CPU or its mathematical library.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace starling {

namespace exponential_parts {

/// ln 2 in two parts: the first has 32 binary digits, so that its product with an exponent is exact.
inline constexpr double ln2_head = 0x1.62e42feep-1;
inline constexpr double ln2_tail = 0x1.a39ef35793c76p-33;
/// Arguments below `least` give 0; arguments above `most` give infinity.
inline constexpr double least = -746;
inline constexpr double most = 710;
/// Rounding constant: added to a number below 2^51, it leaves the nearest integer in the last digits.
inline constexpr double rounder = 0x1.8p52;

/// 1 / j! for j = 2 … 13.
inline constexpr std::array<double, 12> coefficients = [] {
  std::array<double, 12> result{};
  double factorial = 1;
  for (std::size_t j = 2; j < result.size() + 2; ++j) result[j - 2] = 1 / (factorial *= static_cast<double>(j));
  return result;
}();

/// 2^k for an integer −1022 ≤ k ≤ 1023, given as k + rounder.
[[nodiscard]] inline double power_of_two(double rounded) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(rounded) + 1023) << 52);
}

}  // namespace exponential_parts

/// e^x, less than one unit in the last place from the true value; NaN for NaN. Needs no fused operations.
///
/// x = k ln 2 + r with |r| ≤ ½ ln 2 (Cody and Waite 1980), then the series of e^r up to r^13/13!. The omitted terms are
/// below 4.2e-18. 2^k is applied in two factors, since subnormal results need two.
[[nodiscard]] inline double exponential(double x) {
  using namespace exponential_parts;
  x = x < least ? least : x;
  x = x > most ? most : x;
  const double k = (x * 0x1.71547652b82fep+0 + rounder) - rounder;  // x / ln 2, rounded
  const double head = x - k * ln2_head;                             // exact
  const double tail = k * ln2_tail;
  const double r = head - tail;
  const double rest = (head - r) - tail;
  const double square = r * r;
  const auto& c = coefficients;
  const double even = c[0] + square * (c[2] + square * (c[4] + square * (c[6] + square * (c[8] + square * c[10]))));
  const double odd = c[1] + square * (c[3] + square * (c[5] + square * (c[7] + square * (c[9] + square * c[11]))));
  const double power = 1 + (r + (rest + square * (even + r * odd)));
  const double half = k * 0.5 + rounder;
  return power * power_of_two(half) * power_of_two((k - (half - rounder)) + rounder);
}

}  // namespace starling
