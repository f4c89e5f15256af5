#include "starling/privacy/clip_rows.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/kernels.hpp"

namespace starling {

namespace {

/// Beyond this a clip factor could underflow: refused, not clipped to something (method 6).
constexpr double largest_clippable_norm = 1e150;
/// Below this a sum of squares may have lost digits to underflow.
constexpr double smallest_sum_of_squares = 1e-280;

double upper_norm(View row, ClipKind kind) {
  if (kind == ClipKind::l1) return norm1(row);
  const double squares = dot(row, row);
  return squares >= smallest_sum_of_squares ? std::sqrt(squares) : norm1(row);
}

void clip_row(MutableView row, std::size_t number, const Clip& clip) {
  const double norm = upper_norm(row, clip.kind);
  check<DataError>(norm <= largest_clippable_norm,
                   "row {} is not finite, or too long to be clipped exactly (its norm must be at most {:g}) scale the "
                   "features, or take a smaller learning rate",
                   number + 1, largest_clippable_norm);
  if (norm > clip.bound) scale(clip.bound / norm, row);
}

/// Where no norm is asked for.
void clamp_row(MutableView row, std::size_t number, const Clip& clip) {
  check<DataError>(std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); }),
                   "row {} is not finite (nothing can be released of it) check the records for missing or huge values, "
                   "or take a smaller learning rate",
                   number + 1);
  if (clip.kind == ClipKind::none) return;
  for (double& value : row) value = std::clamp(value, -clip.bound, clip.bound);
}

}  // namespace

void clip_rows(MutableView rows, std::size_t width, const Clip& clip) {
  check<FailureError>(width > 0 && rows.size() % width == 0, "{} numbers in rows of {} (rows are whole)", rows.size(),
                      width);
  const bool by_norm = clip.kind == ClipKind::l1 || clip.kind == ClipKind::l2;
  for (std::size_t i = 0; i * width < rows.size(); ++i) {
    (by_norm ? clip_row : clamp_row)(rows.subspan(i * width, width), i, clip);
  }
}

}  // namespace starling
