#include "privacy/clip_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "core/numerics/row_sums.hpp"

namespace starling {

namespace {

/// The largest norm of a row. Beyond it, a clip factor could underflow.
constexpr double largest_clippable_norm = 1e150;
/// Below this a sum of squares may have lost digits to underflow.
constexpr double smallest_sum_of_squares = 1e-280;

/// A finite sum of magnitudes has finite terms; one that is not may have overflowed.
bool is_finite(View row, double magnitudes) {
  return std::isfinite(magnitudes) ||
         std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

double factor_of(double norm, double bound) {
  if (!(norm <= largest_clippable_norm)) return 0;
  return norm > bound ? bound / norm : 1;
}

/// Whether the row is in range. A row out of range stays as it is.
bool clip_row(MutableView row, const Clip& clip) {
  if (clip.kind == ClipKind::component) {
    if (!is_finite(row, norm1(row))) return false;
    for (double& value : row) value = std::clamp(value, -clip.bound, clip.bound);
    return true;
  }
  double factor = 0;
  clip_factors(row, row.size(), clip, MutableView(&factor, 1));
  if (factor > 0 && factor < 1) scale(factor, row);
  return factor > 0;
}

}  // namespace

void clip_factors(View rows, std::size_t width, const Clip& clip, MutableView factors) {
  check<FailureError>(rows.size() == factors.size() * width, "{} numbers in {} rows of {}", rows.size(), factors.size(),
                      width);
  if (clip.kind == ClipKind::l2) {
    row_sums(rows, width, Square(), factors);
  } else {
    row_sums(rows, width, Magnitude(), factors);
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const View row = rows.subspan(i * width, width);
    const double sum = factors[i];
    if (clip.kind == ClipKind::none) {
      factors[i] = is_finite(row, sum) ? 1 : 0;
    } else if (clip.kind == ClipKind::l1) {
      factors[i] = factor_of(sum, clip.bound);
    } else {
      factors[i] = factor_of(sum >= smallest_sum_of_squares ? std::sqrt(sum) : norm1(row), clip.bound);
    }
  }
}

std::size_t clip_rows(MutableView rows, std::size_t width, const Clip& clip) {
  check<FailureError>(width > 0 && rows.size() % width == 0, "{} numbers in rows of {}: rows are whole.", rows.size(),
                      width);
  std::size_t out_of_range = 0;
  for (std::size_t i = 0; i * width < rows.size(); ++i) {
    const MutableView row = rows.subspan(i * width, width);
    if (clip_row(row, clip)) continue;
    std::fill(row.begin(), row.end(), 0.0);
    ++out_of_range;
  }
  return out_of_range;
}

}  // namespace starling
