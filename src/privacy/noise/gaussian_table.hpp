/// Piecewise polynomials of the standard normal quantile, for the fast path of the Gaussian sampler, and the bound on
/// their error that tools/gaussian_table.cpp proves.
///
/// Let U be a tail probability in (0, 1/2) and z(U) = −Φ⁻¹(U) > 0. An octave j holds 2^-(j+2) ≤ U < 2^-(j+1) and is cut
/// into 64 pieces of equal width h. In a piece with centre c, U = c + t h with t in [−1/2, 1/2), and
///    z(U) · 2^(61 + x) ≈ c0 + c1 t + c2 t² + … + c7 t⁷,
/// where x is chosen for each octave so that z fits 64 bits. c0 and c1 t are integers of 64 bits; only the rest, which
/// is less than 2^48, is computed in double precision.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace starling::gaussian_table {

inline constexpr int octaves = 21;  ///< smaller tail probabilities, a draw in 2^21, are decided exactly
inline constexpr int piece_bits = 6;
inline constexpr int pieces = 1 << piece_bits;  ///< of an octave
inline constexpr int degree = 7;
inline constexpr int unit_bits = 61;  ///< z < 8 in units of 2^-61 fits 64 bits
/// A `Cell` whose centre is below this is beyond the table.
inline constexpr std::uint64_t smallest_cell = std::uint64_t{1} << (64 - octaves);

struct Octave {
  int extra_bits;       ///< x
  std::uint64_t error;  ///< in units of 2^-(61+x): more than |quantile() − z(U)|, whatever U is in the cell
};

/// 64 bytes, one line of cache.
struct alignas(64) Piece {
  std::uint64_t c0;
  std::int64_t c1;
  std::array<double, degree - 1> rest;  ///< c_k · 2^(−64 k), k = 2 … 7: t comes as an integer in units of 2^-64
};

struct Table {
  std::array<Octave, octaves> octave;
  std::array<Piece, octaves * pieces> piece;
};

extern const Table table;

/// The cell of U that 63 bits u select: u ≤ 2^64 U < u + 1. The centre of that cell is v · 2^-65 with v = 2 u + 1.
struct Cell {
  explicit Cell(std::uint64_t word) : centre(word << 1 | 1), octave(std::min(std::countl_zero(centre), octaves - 1)) {}
  std::uint64_t centre;  ///< v
  int octave;            ///< of v; the last one if v is beyond the table
};

/// z of a cell's centre in units of 2^-(61+x), to within the octave's `error`. The integer part of `rest`, which is not
/// negative, and of c1 t are rounded down; c0 makes up for half of what is lost.
/// The same bits on every processor: integers, and operations that IEEE 754 defines (std::fma by name).
inline std::uint64_t quantile(const Cell& cell) {
  __extension__ using Wide = __int128;
  const std::uint64_t normal = cell.centre << cell.octave;
  const std::uint64_t place = normal >> (63 - piece_bits) & (pieces - 1);
  const Piece& piece = table.piece[static_cast<std::size_t>(cell.octave) * pieces + place];
  const auto t = static_cast<std::int64_t>((normal << (piece_bits + 1)) ^ (std::uint64_t{1} << 63));
  const auto linear = static_cast<std::int64_t>((static_cast<Wide>(piece.c1) * t) >> 64);
  const auto x = static_cast<double>(t);
  const auto& rest = piece.rest;
  double sum = std::fma(rest[5], x, rest[4]);
  sum = std::fma(sum, x, rest[3]);
  sum = std::fma(sum, x, rest[2]);
  sum = std::fma(sum, x, rest[1]);
  sum = std::fma(sum, x, rest[0]);
  return piece.c0 + static_cast<std::uint64_t>(linear + static_cast<std::int64_t>(sum * (x * x)));
}

}  // namespace starling::gaussian_table
