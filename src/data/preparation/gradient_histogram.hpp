/// Histograms of gradients as features of pictures.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/columns.hpp"

namespace starling {

/// The histogram of gradients of a square grey picture ("HOG", Dalal and Triggs, CVPR 2005, in its plainest form): 4 ×
/// 4 cells × 8 directions and a constant, 129 features. A function of one record and public constants alone: it costs
/// no privacy.
///
/// Steps for a picture p of side s, rows from above, in this order:
///
/// 1. The gradient of pixel (r, c) is (p(r, c+1) − p(r, c−1), p(r+1, c) − p(r−1, c)), where pixels beyond the border
///    are those on it.
/// 2. It votes for the two of the eight directions 0°, 45°, …, 315° between which it lies (signed: dark to
///    bright is not bright to dark), with its coordinates in them: with a ≥ b the magnitudes of its two components, a −
///    b for the direction along an axis and √2 b for the diagonal.
/// 3. It votes in the up to four cells whose centres are nearest, by bilinear interpolation. In units of cells, row r
///    lies at 4 (r + 1/2)/s − 1/2, kept within [0, 3], and a cell of row k gets the share 1 − |position − k|; columns
///    likewise. h(cell, direction) is the sum of votes.
/// 4. Feature 8·(4·row + column) + direction is √(16 h/Σh) − 1/4, and feature 128 is 1, an intercept. Where no pixel
///    differs from its neighbours, h/Σh counts as 0.
///
/// By 16, cells weigh 1 each on average; 1/4 is about what all features of handwriting have in common, which would only
/// lengthen a clipped gradient. Features are unchanged if a picture becomes brighter or gets more
/// contrast, and their norm is below 4.8: |f|² = 16 − (1/2) Σ√(16 h/Σh) + 128/16 + 1, and the sum of roots is at least
/// 4.
class GradientHistogram {
 public:
  static constexpr std::size_t features = 129;

  /// Pictures of as many pixels as `pixels`, row by row. Throws UsageError unless these are a square of side 4 or more.
  explicit GradientHistogram(std::size_t pixels);

  [[nodiscard]] std::size_t pixels() const { return side_ * side_; }
  /// Names of the features: "28x28 around 0.3 at 45", …, "constant". With the size, so that pictures of two sizes are
  /// told apart.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Writes the features of one picture of `pixels()` numbers into `found`, which becomes `features` long. False where
  /// differences of pixels, or the sum of the differences, are beyond double precision; `found` is then invalid.
  [[nodiscard]] bool describe(const Vector& picture, Vector& found) const;

 private:
  /// The two cells between whose centres a row, or a column, of pixels lies.
  struct Place {
    std::size_t cell;              ///< the first of them, 0 to 2
    std::array<double, 2> shares;  ///< of both; their sum is 1
  };

  std::size_t side_;
  std::vector<Place> places_;
};

}  // namespace starling
