/// Lengths of the steps of stochastic gradient descent.
#pragma once

#include <array>
#include <cstddef>

#include "starling/core/links.hpp"

namespace starling {

/// γ (i + i0)^{−α} for the steps i = 1, 2, …: what std::pow gives, to the bit, at half its cost.
///
/// A block of steps is computed at once. Far from zero its powers come from that of its first place c, by the binomial
/// series of (1 + h/c)^{−α}, with an error below 2^-60. Rounding that gives std::pow's number unless it lies close to
/// the middle between two numbers; then std::pow itself is asked. (Its own error is taken to be below 0.52 units in the
/// last place, as the C library states.)
class StepLengths {
 public:
  /// γ, α and i0 >= 0.
  StepLengths(double step, double power, double offset) : step_(step), power_(power), offset_(offset) {}

  /// Of step i >= 1; cheap if steps ascend.
  [[nodiscard]] double at(Round i) {
    const auto place = static_cast<std::size_t>(i);  // which divides by a shift
    if (place / block_size != block_) fill(place / block_size);
    return lengths_[place % block_size];
  }

 private:
  static constexpr std::size_t block_size = 512;

  void fill(std::size_t block);

  double step_;
  double power_;
  double offset_;
  std::size_t block_ = static_cast<std::size_t>(-1);
  std::array<double, block_size> lengths_{};
};

}  // namespace starling
