/// Arithmetic that layers with parameters share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "core/boundary.hpp"
#include "core/numerics/kernels.hpp"
#include "model/clippable.hpp"
#include "model/row_arithmetic.hpp"

namespace starling {

/// Largest norm of a gradient or row in range. Beyond it a clip factor could underflow, or lose more to underflow than
/// the clip's margin allows (gradient_sum.hpp).
template <class T>
inline constexpr double largest_norm = std::is_same_v<T, float> ? 1e15 : largest_clippable_norm;

/// Sets each of `rows` rows to b.
template <class T>
void fill_rows(std::size_t rows, std::size_t width, const T* b, T* out) {
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(b, width, out + i * width);
}

/// Adds up rows, one after the other.
template <class T>
void sum_rows(std::size_t rows, std::size_t width, const T* from, T* sum) {
  std::fill_n(sum, width, T(0));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) sum[j] += from[i * width + j];
  }
}

/// |v|, in double whatever T is; where squares underflow, the L1 norm in place of the L2 norm.
template <class T>
double norm_of(const T* v, std::size_t n, Norm norm) {
  const auto absolute = [v](std::size_t i) { return std::abs(static_cast<double>(v[i])); };
  if (norm == Norm::l1) return lane_sum(n, absolute);
  const double squares = lane_sum(n, [v](std::size_t i) { return static_cast<double>(v[i]) * v[i]; });
  return squares >= smallest_sum_of_squares ? std::sqrt(squares) : lane_sum(n, absolute);
}

/// Σ v_i².
template <class T>
double squares_of(const T* v, std::size_t n) {
  return lane_sum(n, [v](std::size_t i) { return static_cast<double>(v[i]) * v[i]; });
}

}  // namespace starling
