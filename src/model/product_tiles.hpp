// The innermost loops of products, for each kind of instructions. Internal to the model room.
#pragma once

#include <cstddef>

namespace starling {

/// The rows of A that a tile has at most.
inline constexpr std::size_t most_tile_rows = 6;

/// Tiles of one kind of instructions.
template <class T>
struct ProductTiles {
  std::size_t width;  ///< columns of a tile
  /// C's tile, `stride` apart row by row, as fma chains over k: A's entry (r, p) is a[r · row + p · column], B's row p
  /// is b[p · width] …; `add` begins the chains with C's entries, else with 0. multiply[r − 1] is for r rows.
  using Multiply = void (*)(std::size_t k, const T* a, std::size_t row, std::size_t column, const T* b, T* c,
                            std::size_t stride, bool add);
  Multiply multiply[most_tile_rows];
  /// `width` columns, `stride` apart, of k numbers that stand side by side, as k rows of `width` numbers.
  void (*turn)(const T* columns, std::size_t stride, std::size_t k, T* rows);
};

/// The fastest that this machine has.
template <class T>
[[nodiscard]] const ProductTiles<T>& product_tiles();
/// Without vector instructions; the same bits.
template <class T>
[[nodiscard]] const ProductTiles<T>& portable_product_tiles();

}  // namespace starling
