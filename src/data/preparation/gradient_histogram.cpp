#include "gradient_histogram.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t cells = 4;  // in a row, and in a column
constexpr std::size_t directions = 8;
constexpr double in_common = 0.25;

/// The two directions next to a gradient, in eighths of a turn from (1, 0) towards (0, 1), and its coordinates there.
struct Votes {
  std::size_t along_axis;
  std::size_t diagonal;
  double axis_vote;
  double diagonal_vote;
};

Votes votes_of(double x, double y) {
  const double a = std::abs(x);
  const double b = std::abs(y);
  const std::size_t diagonal = y >= 0 ? (x >= 0 ? 1 : 3) : (x >= 0 ? 7 : 5);
  const std::size_t along_x = x >= 0 ? 0 : 4;
  const std::size_t along_y = y >= 0 ? 2 : 6;
  return {a >= b ? along_x : along_y, diagonal, std::abs(a - b), std::sqrt(2.0) * std::min(a, b)};
}

std::size_t side_of(std::size_t pixels) {
  auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(pixels)));
  while (side * side < pixels) ++side;  // the root is rounded
  check(
      side * side == pixels && side >= cells,
      "--features hog with {} features: it describes square pictures, row by row, of side {} or more. Leave it out, or "
      "leave out columns that are no pixels (--drop, --id).",
      pixels, cells);
  return side;
}

}  // namespace

GradientHistogram::GradientHistogram(std::size_t pixels) : side_(side_of(pixels)) {
  for (std::size_t i = 0; i < side_; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * cells / static_cast<double>(side_) - 0.5;
    const double position = std::clamp(middle, 0.0, cells - 1.0);
    const auto cell = std::min(static_cast<std::size_t>(position), cells - 2);
    const double past = position - static_cast<double>(cell);
    places_.push_back({cell, {1 - past, past}});
  }
}

std::vector<std::string> GradientHistogram::names() const {
  std::vector<std::string> names;
  for (std::size_t cell = 0; cell < cells * cells; ++cell) {
    for (std::size_t direction = 0; direction < directions; ++direction) {
      names.push_back(fmt::format("{0}x{0} around {1}.{2} at {3}", side_, cell / cells, cell % cells,
                                  360 * direction / directions));
    }
  }
  names.emplace_back("constant");
  return names;
}

bool GradientHistogram::describe(const Vector& picture, Vector& found) const {
  found.assign(features, 0);
  const std::size_t last = side_ - 1;
  for (std::size_t r = 0; r < side_; ++r) {
    const double* const here = picture.data() + r * side_;
    const double* const above = r > 0 ? here - side_ : here;
    const double* const below = r < last ? here + side_ : here;
    for (std::size_t c = 0; c < side_; ++c) {
      const double x = here[std::min(c + 1, last)] - here[c > 0 ? c - 1 : 0];
      const double y = below[c] - above[c];
      if (x == 0 && y == 0) continue;
      const Votes votes = votes_of(x, y);
      for (const std::size_t row : {0U, 1U}) {
        for (const std::size_t column : {0U, 1U}) {
          const double share = places_[r].shares[row] * places_[c].shares[column];
          double* const histogram =
              found.data() + directions * (cells * (places_[r].cell + row) + places_[c].cell + column);
          histogram[votes.along_axis] += share * votes.axis_vote;
          histogram[votes.diagonal] += share * votes.diagonal_vote;
        }
      }
    }
  }
  double sum = 0;
  for (const double votes : found) sum += votes;
  if (!std::isfinite(sum)) return false;
  for (double& votes : found) votes = (sum > 0 ? std::sqrt(cells * cells * (votes / sum)) : 0) - in_common;
  found.back() = 1;
  return true;
}

}  // namespace starling
