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

/// Whether the row is in range. Each function below leaves a row out of range unchanged.
bool clip_row(MutableView row, const Clip& clip) {
  const double norm = upper_norm(row, clip.kind);
  if (!(norm <= largest_clippable_norm)) return false;
  if (norm > clip.bound) scale(clip.bound / norm, row);
  return true;
}

/// Clips a row by its entries or not at all, for a clip without a norm. False for an entry that is not finite.
bool clamp_row(MutableView row, const Clip& clip) {
  if (!std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); })) return false;
  if (clip.kind == ClipKind::none) return true;
  for (double& value : row) value = std::clamp(value, -clip.bound, clip.bound);
  return true;
}

}  // namespace

std::size_t clip_rows(MutableView rows, std::size_t width, const Clip& clip) {
  check<FailureError>(width > 0 && rows.size() % width == 0, "{} numbers in rows of {} (rows are whole)", rows.size(),
                      width);
  const bool by_norm = clip.kind == ClipKind::l1 || clip.kind == ClipKind::l2;
  std::size_t out_of_range = 0;
  for (std::size_t i = 0; i * width < rows.size(); ++i) {
    const MutableView row = rows.subspan(i * width, width);
    if ((by_norm ? clip_row : clamp_row)(row, clip)) continue;
    std::fill(row.begin(), row.end(), 0.0);
    ++out_of_range;
  }
  return out_of_range;
}

}  // namespace starling
