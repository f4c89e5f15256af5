/// Products of a row, dense or sparse, with a dense vector.
#pragma once

#include <cmath>
#include <type_traits>

#include "core/batch.hpp"
#include "core/numerics/kernels.hpp"
#include "core/numerics/row_sums.hpp"
#include "core/numerics/weighted_sum.hpp"
#include "core/sized.hpp"

namespace starling {

/// Least sum of squares that has lost no digits to underflow.
inline constexpr double smallest_sum_of_squares = 1e-280;

/// ‖v‖₂ from a known sum of squares. Where squares underflow, ‖v‖₁, which is not less: a norm that is too small would
/// not clip.
inline double upper_norm2(View v, double squares) {
  return squares >= smallest_sum_of_squares ? std::sqrt(squares) : norm1(v);
}

/// Result of `few` for a dense row of n numbers, n known to the compiler; result of `any` for another row.
template <class Few, class Any>
[[gnu::always_inline]] inline auto by_length(const Row& row, Few&& few, Any&& any) {
  return sized(row.sparse() ? 0 : row.values.size(), [&](auto n) {
    if constexpr (std::is_same_v<decltype(n), std::size_t>) {
      return any();
    } else {
      return few(n);
    }
  });
}

/// lane_sum of n <= 6 numbers (or of four such lists side by side) to the bit, without lanes in memory. (There each
/// lane begins with 0: what that makes of a minus zero one 0 at the end makes of it too.)
template <class Size, class Term>
inline auto few_sum(Size n, Term term) {
  decltype(term(0)) lanes[6] = {};
  for (std::size_t i = 0; i < n; ++i) lanes[i] = term(i);
  const auto sum = n <= 4 ? (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
                          : ((lanes[0] + lanes[4]) + lanes[2]) + ((lanes[1] + lanes[5]) + lanes[3]);
  return 0 + sum;
}

/// dot of n <= 6 numbers to the bit.
template <class Size>
inline double few_dot(const double* x, const double* y, Size n) {
  return few_sum(n, [x, y](std::size_t i) { return x[i] * y[i]; });
}

// Not inline and by value, so that code for rows of a few features keeps these in registers.
[[gnu::noinline]] inline double any_dot(Row row, View y) {
  return row.sparse() ? dot(row.values, row.index, y) : dot(row.values, y);
}
[[gnu::noinline]] inline double any_squares(Row row) {
  return dot(row.values, row.values);
}
[[gnu::noinline]] inline void any_axpy(double a, Row row, MutableView y) {
  row.sparse() ? axpy(a, row.values, row.index, y) : axpy(a, row.values, y);
}

/// A row's product with weights, and a sum over its own entries.
struct DotAndSum {
  double dot = 0;
  double sum = 0;
};

/// Both sums of a row; one pass for a dense row. Neither sum waits for the other's additions.
template <class Of>
[[gnu::noinline]] DotAndSum any_dot_and_sum(Row row, View y, Of of) {
  const View x = row.values;
  if (row.sparse()) return {dot(x, row.index, y), lane_sum(x.size(), [&](std::size_t i) { return of(x[i]); })};
  constexpr std::size_t registers = reduction_lanes / FourLanes::lanes;
  FourLanes::Number dots[registers] = {};
  FourLanes::Number sums[registers] = {};
  const std::size_t whole = x.size() / reduction_lanes * reduction_lanes;
  for (std::size_t i = 0; i < whole; i += reduction_lanes) {
    for (std::size_t r = 0; r < registers; ++r) {
      const FourLanes::Number part = FourLanes::load(&x[i + r * FourLanes::lanes]);
      dots[r] += part * FourLanes::load(&y[i + r * FourLanes::lanes]);
      sums[r] += of(part);
    }
  }
  double dot_lanes[reduction_lanes];
  double sum_lanes[reduction_lanes];
  for (std::size_t r = 0; r < registers; ++r) {
    FourLanes::store(&dot_lanes[r * FourLanes::lanes], dots[r]);
    FourLanes::store(&sum_lanes[r * FourLanes::lanes], sums[r]);
  }
  for (std::size_t i = whole; i < x.size(); ++i) {
    dot_lanes[i - whole] += x[i] * y[i];
    sum_lanes[i - whole] += of(x[i]);
  }
  return {sum_of_lanes(dot_lanes), sum_of_lanes(sum_lanes)};
}

/// row_dot, and Σ of(x_j) over the row's entries as lane_sum has it.
template <class Of>
inline DotAndSum row_dot_and_sum(const Row& row, View weights, Of of) {
  return by_length(
      row,
      [x = row.values.data(), y = weights.data(), of](auto n) {
        return DotAndSum{few_dot(x, y, n), few_sum(n, [x, of](std::size_t i) { return of(x[i]); })};
      },
      [&] { return any_dot_and_sum(row, weights, of); });
}

inline double row_dot(const Row& row, View weights) {
  return by_length(
      row, [x = row.values.data(), y = weights.data()](auto n) { return few_dot(x, y, n); },
      [&] { return any_dot(row, weights); });
}

/// Adds the row's entries times a, each clipped to [−bound, bound].
inline void row_axpy_clipped(double a, const Row& row, double bound, MutableView target) {
  for (std::size_t j = 0; j < row.values.size(); ++j) {
    target[row.feature(j)] += std::clamp(a * row.values[j], -bound, bound);
  }
}

inline void row_axpy(double a, const Row& row, MutableView target) {
  by_length(
      row,
      [a, x = row.values.data(), y = target.data()](auto n) {
        for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
      },
      [&] { any_axpy(a, row, target); });
}

}  // namespace starling
