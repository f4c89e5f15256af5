#include "product.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "product_tiles.hpp"

namespace starling {

namespace {

constexpr std::size_t most_width = 32;    ///< of any tile
constexpr std::size_t inner_block = 256;  ///< of k: a strip of B then stays in the nearest cache
constexpr std::size_t row_block = 96;     ///< of A: such rows stay in the second cache while strips of B pass

/// k rows, `step` apart, of `count` numbers, `stride` apart, `width` apart in `out`: 8 rows at a time, so that what is
/// read and what is written stays near.
template <class T>
void pack_columns(const T* from, std::size_t stride, std::size_t count, std::size_t step, std::size_t k,
                  std::size_t width, T* out) {
  constexpr std::size_t block = 8;
  for (std::size_t top = 0; top < k; top += block) {
    const std::size_t bottom = std::min(top + block, k);
    for (std::size_t q = 0; q < count; ++q) {
      for (std::size_t p = top; p < bottom; ++p) out[p * width + q] = from[q * stride + p * step];
    }
  }
}

/// k runs of Width numbers, `step` apart, side by side.
template <std::size_t Width, class T>
void pack_runs(const T* from, std::size_t step, std::size_t k, T* out) {
  for (std::size_t p = 0; p < k; ++p, from += step, out += Width) std::memcpy(out, from, Width * sizeof(T));
}

/// The same for any width.
template <class T>
void pack_runs(const T* from, std::size_t step, std::size_t k, std::size_t width, T* out) {
  switch (width) {
    case 6:
      return pack_runs<6>(from, step, k, out);
    case 5:
      return pack_runs<5>(from, step, k, out);
    default:
      for (std::size_t p = 0; p < k; ++p) std::copy_n(from + p * step, width, out + p * width);
  }
}

/// Rows of a block of A in strips of `height`, entry after entry of each strip's columns.
template <class T>
void pack_left(const Operand<T>& a, std::size_t m, std::size_t k, std::size_t height, T* out) {
  for (std::size_t i = 0; i < m; i += height) {
    const std::size_t count = std::min(height, m - i);
    const T* from = a.data + i * a.row;
    if (a.row == 1) {
      pack_runs(from, a.column, k, count, out);
    } else {
      pack_columns(from, a.row, count, a.column, k, count, out);
    }
    out += k * count;
  }
}

/// The height of strips that cuts m rows evenly.
std::size_t even_height(std::size_t m) {
  const std::size_t strips = (m + most_tile_rows - 1) / most_tile_rows;
  return (m + strips - 1) / strips;
}

/// Rows of A, `depth` columns of them: packed into strips, or as they are where a row's numbers are side by side.
template <class T>
struct Left {
  const T* data;
  std::size_t step;  ///< row i's strip, or row i, begins at data + i · step
  bool packed;
};

/// A strip of a tile's width of B.
template <class T>
struct Strip {
  const T* data;
  std::size_t step;  ///< from row to row
  T* keep;           ///< where the tile that reads it packs it for those that follow; null where it is packed
};

/// The strip of `count` columns of B, `depth` rows of them, for its first tile: as it is where a row's numbers are side
/// by side, else packed, and filled up with zeros.
template <class T>
Strip<T> first_strip(const ProductTiles<T>& tiles, std::size_t depth, const Operand<T>& b, std::size_t count, T* room) {
  if (count == tiles.width && b.column == 1) return {b.data, b.row, room};
  if (count == tiles.width && b.row == 1) {
    tiles.turn(b.data, b.column, depth, room);
  } else {
    std::fill_n(room, depth * tiles.width, T(0));
    pack_columns(b.data, b.column, count, b.row, depth, tiles.width, room);
  }
  return {room, tiles.width, nullptr};
}

/// C's columns at `column.c` at its right edge, where only `across` are left: each tile by way of one of its own.
template <class T>
void multiply_edge(const ProductTiles<T>& tiles, TileColumn<T> column, std::size_t down, std::size_t across) {
  T edge[most_tile_rows * most_width] = {};
  T* place = column.c;
  const std::size_t n = column.stride;
  column.c = edge;
  column.stride = tiles.width;
  for (std::size_t left = std::exchange(column.count, 1); left > 0; --left) {
    for (std::size_t r = 0; column.add && r < down; ++r) std::copy_n(place + r * n, across, edge + r * tiles.width);
    tiles.multiply[down - 1](column);
    for (std::size_t r = 0; r < down; ++r) std::copy_n(edge + r * tiles.width, across, place + r * n);
    column.a += column.next;
    place += down * n;
  }
}

/// Rows i … i + count · down − 1 of C's columns at `column.c`, where its first row is.
template <class T>
void multiply_rows(const ProductTiles<T>& tiles, const Left<T>& left, std::size_t i, std::size_t count,
                   std::size_t down, TileColumn<T> column, std::size_t across) {
  column.count = count;
  column.a = left.data + i * left.step;
  column.row = left.packed ? 1 : left.step;
  column.column = left.packed ? down : 1;
  column.next = down * left.step;
  column.c += i * column.stride;
  if (across == tiles.width) return tiles.multiply[down - 1](column);
  multiply_edge(tiles, column, down, across);
}

/// All of C, with `depth` columns of A and as many rows of B, of which a strip is packed when it is first needed: it is
/// near then, and where all rows of A pass at once the next one takes its place.
template <class T>
void multiply_block(const ProductTiles<T>& tiles, std::size_t m, std::size_t n, std::size_t depth, const Left<T>& left,
                    const Operand<T>& b, Workspace<T>& room, T* c, bool add) {
  const std::size_t width = tiles.width;
  const std::size_t height = even_height(m);
  const std::size_t block = row_block / height * height;
  const std::size_t apart = m > block ? depth : 0;  // strips, by the columns between them
  T* const strips = room.take(((n - 1) / width * apart + depth) * width);
  for (std::size_t top = 0; top < m; top += block) {
    const std::size_t whole = (std::min(top + block, m) - top) / height;
    const std::size_t rest = std::min(top + block, m) - top - whole * height;
    for (std::size_t j = 0; j < n; j += width) {
      const std::size_t across = std::min(width, n - j);
      T* const place = strips + j * apart;
      const Strip<T> packed{place, width, nullptr};
      Strip<T> strip = packed;
      if (top == 0) strip = first_strip(tiles, depth, {b.data + j * b.column, b.row, b.column}, across, place);
      if (m <= height) strip.keep = nullptr;
      const auto multiply = [&](std::size_t i, std::size_t count, std::size_t down, const Strip<T>& right) {
        const TileColumn<T> column{0, depth, nullptr, 0, 0, 0, right.data, right.step, right.keep, c + j, n, add};
        multiply_rows(tiles, left, i, count, down, column, across);
      };
      if (whole > 0) multiply(top, whole, height, strip);
      if (rest > 0) multiply(top + whole * height, 1, rest, packed);
    }
  }
}

}  // namespace

template <class T>
void Product<T>::operator()(std::size_t m, std::size_t n, std::size_t k, const Operand<T>& a, const Operand<T>& b, T* c,
                            Into into) {
  if (k == 0 && into == Into::new_matrix) std::fill(c, c + m * n, T(0));
  if (m == 0 || n == 0) return;
  const ProductTiles<T>& tiles = product_tiles<T>();
  for (std::size_t from = 0; from < k; from += inner_block) {
    const std::size_t depth = std::min(inner_block, k - from);
    Left<T> left{a.data + from * a.column, a.row, a.column != 1};
    if (left.packed) {
      T* const room = left_.take(m * depth);
      pack_left({left.data, a.row, a.column}, m, depth, even_height(m), room);
      left = {room, depth, true};
    }
    multiply_block(tiles, m, n, depth, left, {b.data + from * b.row, b.row, b.column}, right_, c,
                   from > 0 || into == Into::sum);
  }
}

template class Product<float>;
template class Product<double>;

}  // namespace starling
