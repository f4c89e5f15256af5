#include "core/numerics/gram.hpp"

#include <algorithm>
#include <cstring>

#include "core/memory/workspace.hpp"
#include "gram_tiles.hpp"

namespace starling {

namespace {

/// Packs a row's columns into their strips, plain and weighted. `plain` and `weighted` point to the row's place in the
/// first strip.
template <std::size_t Width>
void pack(const double* __restrict x, std::size_t p, double weight, double* __restrict plain,
          double* __restrict weighted) {
  std::size_t j = 0;
  for (; j + Width <= p; j += Width) {
    std::memcpy(plain, x + j, Width * sizeof(double));
    for (std::size_t k = 0; k < Width; ++k) weighted[k] = weight * x[j + k];
    plain += gram_strip(Width);
    weighted += gram_strip(Width);
  }
  if (j == p) return;
  for (std::size_t k = 0; k < Width; ++k) {
    plain[k] = j + k < p ? x[j + k] : 0;
    weighted[k] = j + k < p ? weight * x[j + k] : 0;
  }
}

/// Gram product by panels of rows: each panel is packed, multiplied tile by tile, and added to the triangle.
class PanelSum {
 public:
  PanelSum(const GramTiles& tiles, std::size_t p, MutableView triangle, double* room)
      : tiles_(tiles),
        p_(p),
        strips_((p + tiles.width - 1) / tiles.width),
        strip_size_(gram_strip(tiles.width)),
        triangle_(triangle),
        plain_(room),
        weighted_(room + strips_ * strip_size_) {}

  [[nodiscard]] static std::size_t room(const GramTiles& tiles, std::size_t p) {
    return 2 * (p / tiles.width + 1) * gram_strip(tiles.width);
  }

  void add(View rows, View weights) {
    const auto pack_row = tiles_.width == 8 ? pack<8> : pack<4>;
    for (std::size_t r = 0; r < weights.size(); ++r) {
      pack_row(&rows[r * p_], p_, weights[r], plain_ + r * tiles_.width, weighted_ + r * tiles_.width);
    }
    // Few columns' strips stay in the nearest cache while those of all rows above the diagonal pass.
    for (std::size_t right = 0; right < strips_; right += gram_strips_at_once) {
      const std::size_t end = std::min(right + gram_strips_at_once, strips_);
      for (std::size_t left = 0; left < end; ++left) add_tile(left, std::max(left, right), end, weights.size());
    }
  }

 private:
  /// Multiplies the columns of strip `left` with the columns of strips `from` … `end` − 1.
  void add_tile(std::size_t left, std::size_t from, std::size_t end, std::size_t rows) {
    const std::size_t count = end - from;
    const std::size_t across = count * tiles_.width;
    tiles_.multiply[count - 1](rows, weighted_ + left * strip_size_, plain_ + from * strip_size_, out_);
    const std::size_t j = from * tiles_.width;
    const std::size_t stop = std::min(across, p_ - j);
    for (std::size_t k = 0; k < std::min(tiles_.width, p_ - left * tiles_.width); ++k) {
      const std::size_t i = left * tiles_.width + k;
      const std::size_t first = i > j ? i - j : 0;  // entries left of the diagonal are not stored
      double* target = &triangle_[triangle_at(i, j + first, p_)];
      const double* source = out_ + k * across + first;
      for (std::size_t c = 0; c < stop - first; ++c) target[c] += source[c];
    }
  }

  const GramTiles& tiles_;
  std::size_t p_;
  std::size_t strips_;
  std::size_t strip_size_;
  MutableView triangle_;
  double* plain_;
  double* weighted_;
  alignas(64) double out_[8 * gram_strips_at_once * 8];  ///< result of one tile
};

}  // namespace

void add_weighted_gram(View rows, std::size_t n, std::size_t p, View weights, MutableView triangle, GramKernel kernel) {
  if (n == 0 || p == 0) return;
  thread_local Workspace<double> workspace;
  const GramTiles& tiles = gram_tiles(kernel);
  PanelSum sum(tiles, p, triangle, workspace.take(PanelSum::room(tiles, p)));
  for (std::size_t r = 0; r < n; r += gram_panel) {
    const std::size_t count = std::min(gram_panel, n - r);
    sum.add(rows.subspan(r * p, count * p), weights.subspan(r, count));
  }
}

void add_weighted_gram(View rows, std::size_t n, std::size_t p, View weights, MutableView triangle) {
  static const GramKernel fastest = gram_kernels().front();
  add_weighted_gram(rows, n, p, weights, triangle, fastest);
}

void scale_off_diagonal(MutableView triangles, std::size_t order, double factor) {
  for (std::size_t at = 0; at < triangles.size();) {
    for (std::size_t i = 0; i < order; ++i) {
      ++at;  // the diagonal
      for (std::size_t j = i + 1; j < order; ++j, ++at) triangles[at] *= factor;
    }
  }
}

}  // namespace starling
