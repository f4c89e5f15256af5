/// Innermost loops of matrix products, for each instruction set.
#pragma once

#include <cstddef>
#include <vector>

namespace starling {

/// Most rows of A in a tile.
inline constexpr std::size_t most_tile_rows = 6;

/// `count` tiles of C, one under the other, for one strip of B.
template <class T>
struct TileColumn {
  std::size_t count;
  std::size_t depth;  ///< of the inner index
  const T* a;         ///< the first tile's entry (r, p) is a[r · row + p · column]
  std::size_t row;
  std::size_t column;
  std::size_t next;  ///< from a tile's first entry to the next one's
  const T* b;        ///< rows of a tile's width, `step` apart
  std::size_t step;
  T* keep;  ///< where the first tile packs them for those that follow, row after row; null if they stay where they are
  T* c;     ///< rows `stride` apart
  std::size_t stride;
  bool add;  ///< chains begin with C's entries, else with 0
};

/// Tiles of one instruction set.
template <class T>
struct ProductTiles {
  std::size_t width;  ///< columns of a tile
  /// Product of tiles, as chains of fma over the inner index. multiply[r − 1] is for tiles of r rows.
  using Multiply = void (*)(const TileColumn<T>& tiles);
  Multiply multiply[most_tile_rows];
  /// `width` columns, `stride` apart, of k numbers that stand side by side, as k rows of `width` numbers.
  void (*turn)(const T* columns, std::size_t stride, std::size_t k, T* rows);
};

/// The tiles that this machine can run, the fastest first. All give the same bits.
template <class T>
[[nodiscard]] std::vector<const ProductTiles<T>*> known_product_tiles();
/// The first of them.
template <class T>
[[nodiscard]] const ProductTiles<T>& product_tiles();

}  // namespace starling
