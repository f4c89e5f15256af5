// A row with a dense vector, whether the row is sparse or not. Internal to the model room.
#pragma once

#include <cmath>

#include "starling/core/batch.hpp"
#include "starling/core/kernels.hpp"

namespace starling {

/// Below this a sum of squares may have lost digits to underflow.
inline constexpr double smallest_sum_of_squares = 1e-280;

/// ‖v‖₂ of a v whose sum of squares is known, and where squares underflow ‖v‖₁, which is not less: a norm that came out
/// too small would not clip.
inline double upper_norm2(View v, double squares) {
  return squares >= smallest_sum_of_squares ? std::sqrt(squares) : norm1(v);
}

/// lane_sum to the bit for n <= 4, without lanes in memory: rows of a few features are a regression's usual case.
template <class Term>
inline double short_sum(std::size_t n, Term term) {
  double lane0 = 0;
  double lane1 = 0;
  double lane2 = 0;
  double lane3 = 0;
  if (n > 0) lane0 += term(0);
  if (n > 1) lane1 += term(1);
  if (n > 2) lane2 += term(2);
  if (n > 3) lane3 += term(3);
  return (lane0 + lane2) + (lane1 + lane3);
}

/// dot to the bit.
inline double short_dot(View x, View y) {
  return x.size() <= 4 ? short_sum(x.size(), [x, y](std::size_t i) { return x[i] * y[i]; }) : dot(x, y);
}

inline double row_dot(const Row& row, View weights) {
  return row.sparse() ? dot(row.values, row.index, weights) : short_dot(row.values, weights);
}

/// axpy to the bit: for a few numbers, the vectors that a compiler makes of a loop cost more than they save.
inline void short_axpy(double a, View x, MutableView y) {
  if (x.size() > 4) {
    axpy(a, x, y);
    return;
  }
  if (x.size() > 0) y[0] += a * x[0];
  if (x.size() > 1) y[1] += a * x[1];
  if (x.size() > 2) y[2] += a * x[2];
  if (x.size() > 3) y[3] += a * x[3];
}

inline void row_axpy(double a, const Row& row, MutableView target) {
  if (row.sparse()) {
    axpy(a, row.values, row.index, target);
  } else {
    short_axpy(a, row.values, target);
  }
}

}  // namespace starling
