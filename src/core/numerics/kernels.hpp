/// Vector arithmetic with one code path. The bits of a result depend on the values alone, never on alignment, on the
/// width of a block or on the number of ranks. (Eigen is not used here, since its packet and tail paths differ.)
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/columns.hpp"

namespace starling {

/// Lanes of a reduction: element i goes to lane i mod 8; the lanes are added pairwise at the end.
inline constexpr std::size_t reduction_lanes = 8;

[[nodiscard]] inline double sum_of_lanes(const double (&lane)[reduction_lanes]) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/// Σ term(i) for i < n, in the fixed order of `reduction_lanes`.
template <class Term>
[[nodiscard]] inline double lane_sum(std::size_t n, Term term) {
  double lane[reduction_lanes] = {};
  const std::size_t whole = n / reduction_lanes * reduction_lanes;
  for (std::size_t i = 0; i < whole; i += reduction_lanes) {
    for (std::size_t k = 0; k < reduction_lanes; ++k) lane[k] += term(i + k);
  }
  for (std::size_t i = whole; i < n; ++i) lane[i - whole] += term(i);
  return sum_of_lanes(lane);
}

[[nodiscard]] inline double sum(View x) {
  return lane_sum(x.size(), [x](std::size_t i) { return x[i]; });
}

/// Σ x_i y_i.
[[nodiscard]] inline double dot(View x, View y) {
  return lane_sum(x.size(), [x, y](std::size_t i) { return x[i] * y[i]; });
}

/// Σ x_j y_{index_j}: a sparse row against a dense vector.
[[nodiscard]] inline double dot(View x, std::span<const std::int32_t> index, View y) {
  return lane_sum(x.size(), [x, index, y](std::size_t j) { return x[j] * y[static_cast<std::size_t>(index[j])]; });
}

/// y += a x.
inline void axpy(double a, View x, MutableView y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

/// y_{index_j} += a x_j.
inline void axpy(double a, View x, std::span<const std::int32_t> index, MutableView y) {
  for (std::size_t j = 0; j < x.size(); ++j) y[static_cast<std::size_t>(index[j])] += a * x[j];
}

inline void scale(double a, MutableView x) {
  for (double& value : x) value *= a;
}

[[nodiscard]] inline double norm1(View x) {
  return lane_sum(x.size(), [x](std::size_t i) { return std::abs(x[i]); });
}

[[nodiscard]] inline double norm2(View x) {
  return std::sqrt(dot(x, x));
}

/// ‖x − y‖₂².
[[nodiscard]] inline double squared_distance(View x, View y) {
  return lane_sum(x.size(), [x, y](std::size_t i) { return (x[i] - y[i]) * (x[i] - y[i]); });
}

}  // namespace starling
