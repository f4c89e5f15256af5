#include "starling/privacy/clip_rows.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

/// The largest norm of a row. Beyond it, a clip factor could underflow.
constexpr double largest_clippable_norm = 1e150;
/// Below this a sum of squares may have lost digits to underflow.
constexpr double smallest_sum_of_squares = 1e-280;

double upper_norm(View row, ClipKind kind) {
  if (kind == ClipKind::l1) return norm1(row);
  const double squares = dot(row, row);
  return squares >= smallest_sum_of_squares ? std::sqrt(squares) : norm1(row);
}

bool is_finite(View row) {
  return std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

/// Whether the row is in range. A row out of range stays as it is.
bool clip_row(MutableView row, const Clip& clip) {
  if (clip.kind == ClipKind::component) {
    if (!is_finite(row)) return false;
    for (double& value : row) value = std::clamp(value, -clip.bound, clip.bound);
    return true;
  }
  const double factor = clip_factor(row, clip);
  if (factor > 0 && factor < 1) scale(factor, row);
  return factor > 0;
}

}  // namespace

double clip_factor(View row, const Clip& clip) {
  if (clip.kind == ClipKind::none) return is_finite(row) ? 1 : 0;
  const double norm = upper_norm(row, clip.kind);
  if (!(norm <= largest_clippable_norm)) return 0;
  return norm > clip.bound ? clip.bound / norm : 1;
}

std::size_t clip_rows(MutableView rows, std::size_t width, const Clip& clip) {
  check<FailureError>(width > 0 && rows.size() % width == 0, "{} numbers in rows of {} (rows are whole)", rows.size(),
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
