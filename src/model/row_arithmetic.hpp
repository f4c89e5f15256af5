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

inline double row_dot(const Row& row, View weights) {
  return row.sparse() ? dot(row.values, row.index, weights) : dot(row.values, weights);
}

inline void row_axpy(double a, const Row& row, MutableView target) {
  if (row.sparse()) {
    axpy(a, row.values, row.index, target);
  } else {
    axpy(a, row.values, target);
  }
}

}  // namespace starling
