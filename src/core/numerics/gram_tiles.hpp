/// Inner loops of weighted Gram products, for each kind of processor. Internal to the core module.
#pragma once

#include <array>
#include <cstddef>

#include "core/numerics/gram.hpp"

namespace starling {

/// Rows that are summed before their sum is added to the result. The bits of results depend on this number: never
/// change it.
inline constexpr std::size_t gram_panel = 128;

/// Columns of a panel are packed in strips of a few columns: row after row, space for gram_panel rows, zeros for
/// columns beyond the last. The distance between strips is one cache line more than their size. Without the extra line
/// all strips would compete for the same few lines of the cache.
[[nodiscard]] constexpr std::size_t gram_strip(std::size_t width) {
  return gram_panel * width + 8;
}

inline constexpr std::size_t gram_strips_at_once = 3;

struct GramTiles {
  std::size_t width;  ///< columns of a strip
  /// multiply[m − 1] takes a strip a and m strips b, one after the other, all of `rows` rows:
  /// out(i, j) = Σ_r a(r, i) b(r, j), i < width, j < m · width, row after row, each sum one chain of fused
  /// multiply-adds in the order of the rows, from 0.
  using Multiply = void (*)(std::size_t rows, const double* a, const double* b, double* out);
  std::array<Multiply, gram_strips_at_once> multiply;
};

[[nodiscard]] const GramTiles& gram_tiles(GramKernel kernel);

}  // namespace starling
