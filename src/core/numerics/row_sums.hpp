/// Sums over the entries of each of many rows.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/columns.hpp"
#include "core/numerics/kernels.hpp"
#include "core/numerics/weighted_sum.hpp"

namespace starling {

/// |x| and x², of one number or of four side by side.
struct Magnitude {
  double operator()(double x) const { return std::abs(x); }
  FourLanes::Number operator()(FourLanes::Number x) const {
    using Bits [[gnu::vector_size(sizeof x)]] = std::int64_t;
    return std::bit_cast<FourLanes::Number>(std::bit_cast<Bits>(x) & std::numeric_limits<std::int64_t>::max());
  }
};
struct Square {
  template <class Number>
  Number operator()(Number x) const {
    return x * x;
  }
};

/// row_sums of `at_once` rows side by side: no row's additions wait for those of another.
template <std::size_t at_once, class Of>
inline void few_row_sums(const double* rows, std::size_t width, Of of, double* sums) {
  constexpr std::size_t four = FourLanes::lanes;
  FourLanes::Number low[at_once] = {};
  FourLanes::Number high[at_once] = {};
  const std::size_t whole = width / reduction_lanes * reduction_lanes;
  for (std::size_t j = 0; j < whole; j += reduction_lanes) {
    for (std::size_t r = 0; r < at_once; ++r) {
      low[r] += of(FourLanes::load(rows + r * width + j));
      high[r] += of(FourLanes::load(rows + r * width + j + four));
    }
  }
  const std::size_t last = width - whole < four ? whole : whole + four;
  for (std::size_t r = 0; r < at_once; ++r) {
    const double* const row = rows + r * width;
    if (last > whole) low[r] += of(FourLanes::load(row + whole));
    double lane[reduction_lanes];
    FourLanes::store(lane, low[r]);
    FourLanes::store(lane + four, high[r]);
    for (std::size_t j = last; j < width; ++j) lane[j - whole] += of(row[j]);
    sums[r] = sum_of_lanes(lane);
  }
}

/// sums[i] = Σ of(x) over the entries x of row i of `rows`, of `width` numbers each, to the bits of lane_sum.
template <class Of>
inline void row_sums(View rows, std::size_t width, Of of, MutableView sums) {
  constexpr std::size_t at_once = 4;
  std::size_t i = 0;
  for (; i + at_once <= sums.size(); i += at_once) {
    few_row_sums<at_once>(rows.data() + i * width, width, of, sums.data() + i);
  }
  for (; i < sums.size(); ++i) few_row_sums<1>(rows.data() + i * width, width, of, sums.data() + i);
}

}  // namespace starling
