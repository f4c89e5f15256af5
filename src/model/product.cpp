#include "product.hpp"

#include "product_tiles.hpp"
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace starling {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t most_width = 16;    ///< of any tile
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
    case 16:
      return pack_runs<16>(from, step, k, out);
    case 8:
      return pack_runs<8>(from, step, k, out);
    case 6:
      return pack_runs<6>(from, step, k, out);
    case 5:
      return pack_runs<5>(from, step, k, out);
    default:
      for (std::size_t p = 0; p < k; ++p) std::copy_n(from + p * step, width, out + p * width);
  }
}

/// Columns of a block of B in strips of a tile's width, the last one filled with zeros.
template <class T>
void pack_right(const ProductTiles<T>& tiles, const Operand<T>& b, std::size_t k, std::size_t n, T* out) {
  const std::size_t width = tiles.width;
  for (std::size_t j = 0; j < n; j += width, out += k * width) {
    const std::size_t count = std::min(width, n - j);
    const T* from = b.data + j * b.column;
    if (count == width && b.column == 1) {
      pack_runs(from, b.row, k, width, out);
      continue;
    }
    if (count == width && b.row == 1) {
      tiles.turn(from, b.column, k, out);
      continue;
    }
    if (count < width) std::fill(out, out + k * width, T(0));
    pack_columns(from, b.column, count, b.row, k, width, out);
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

/// A tile of C at `place`; at C's right edge, where `across` columns are left, by way of a tile of its own.
template <class T>
void multiply_tile(const ProductTiles<T>& tiles, std::size_t depth, const Left<T>& left, std::size_t i,
                   std::size_t down, const T* right, std::size_t across, T* place, std::size_t n, bool add) {
  const T* const a = left.data + i * left.step;
  const std::size_t row = left.packed ? 1 : left.step;
  const std::size_t column = left.packed ? down : 1;
  if (across == tiles.width) {
    tiles.multiply[down - 1](depth, a, row, column, right, place, n, add);
    return;
  }
  T edge[most_tile_rows * most_width] = {};
  for (std::size_t r = 0; add && r < down; ++r) std::copy_n(place + r * n, across, edge + r * tiles.width);
  tiles.multiply[down - 1](depth, a, row, column, right, edge, tiles.width, add);
  for (std::size_t r = 0; r < down; ++r) std::copy_n(edge + r * tiles.width, across, place + r * n);
}

/// All of C, with `depth` columns of A and strips of as many rows of B.
template <class T>
void multiply_block(const ProductTiles<T>& tiles, std::size_t m, std::size_t n, std::size_t depth, const Left<T>& left,
                    const T* right, T* c, bool add) {
  const std::size_t height = even_height(m);
  const std::size_t block = row_block / height * height;
  for (std::size_t top = 0; top < m; top += block) {
    const std::size_t bottom = std::min(top + block, m);
    for (std::size_t j = 0; j < n; j += tiles.width) {
      const std::size_t across = std::min(tiles.width, n - j);
      for (std::size_t i = top; i < bottom; i += height) {
        multiply_tile(tiles, depth, left, i, std::min(height, m - i), right + j * depth, across, c + i * n + j, n, add);
      }
    }
  }
}

}  // namespace

template <class T>
T* Workspace<T>::take(std::size_t count) {
  constexpr std::size_t spare = cache_line / sizeof(T);
  if (numbers_.size() < count + spare) numbers_.resize(count + spare);
  const auto address = reinterpret_cast<std::uintptr_t>(numbers_.data());
  return numbers_.data() + (cache_line - address % cache_line) % cache_line / sizeof(T);
}

template <class T>
void Product<T>::operator()(std::size_t m, std::size_t n, std::size_t k, const Operand<T>& a, const Operand<T>& b, T* c,
                            Into into) {
  if (k == 0 && into == Into::new_matrix) std::fill(c, c + m * n, T(0));
  if (m == 0 || n == 0) return;
  const ProductTiles<T>& tiles = product_tiles<T>();
  for (std::size_t from = 0; from < k; from += inner_block) {
    const std::size_t depth = std::min(inner_block, k - from);
    T* const right = right_.take((n + tiles.width - 1) / tiles.width * tiles.width * depth);
    pack_right(tiles, {b.data + from * b.row, b.row, b.column}, depth, n, right);
    Left<T> left{a.data + from * a.column, a.row, a.column != 1};
    if (left.packed) {
      T* const room = left_.take(m * depth);
      pack_left({left.data, a.row, a.column}, m, depth, even_height(m), room);
      left = {room, depth, true};
    }
    multiply_block(tiles, m, n, depth, left, right, c, from > 0 || into == Into::sum);
  }
}

template class Workspace<float>;
template class Workspace<double>;
template class Product<float>;
template class Product<double>;

}  // namespace starling
