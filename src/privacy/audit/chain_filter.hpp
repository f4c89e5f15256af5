/// The independent noise behind correlated releases, as an observer computes it.
#pragma once

#include <array>
#include <cmath>

#include "core/links.hpp"
#include "privacy/correlation.hpp"

namespace starling {

/// û_t = v_t + Σ_j ω_j S_j, S_j ← θ_j S_j + û_t, over the rounds t of one client that have a release: v = q + σ C⁻¹ Z
/// becomes C q + σ Z. Rounds without a release have û = 0. Of rounds in falling order the same recursion multiplies by
/// the transpose of that matrix, because its inverse depends on distances of rounds alone. In doubles.
class ChainFilter {
 public:
  explicit ChainFilter(const NoiseCorrelation& correlation) : correlation_(correlation) {}

  /// Σ_j ω_j S_j in round t.
  [[nodiscard]] double taken_back(Round t) const {
    double sum = 0;
    for (std::size_t j = 0; j < sums_.size(); ++j) sum += correlation_.omega[j] * faded(j, t);
    return sum;
  }
  /// û_t of v_t; t must not be the last one again.
  double next(Round t, double value) {
    const double result = value + taken_back(t);
    add(t, result);
    return result;
  }
  /// The step of the recursion with another û_t, such as û_t rounded.
  void add(Round t, double noise) {
    for (std::size_t j = 0; j < sums_.size(); ++j) sums_[j] = correlation_.theta[j] * faded(j, t) + noise;
    last_ = t;
  }

 private:
  /// S_j in round t: after the rounds since the last release, in which nothing was added.
  [[nodiscard]] double faded(std::size_t j, Round t) const {
    const auto gap = static_cast<double>(std::abs(t - last_));
    return gap <= 1 || sums_[j] == 0 ? sums_[j] : sums_[j] * std::pow(correlation_.theta[j], gap - 1);
  }

  NoiseCorrelation correlation_;
  std::array<double, NoiseCorrelation::buffers> sums_{};  ///< S_j of the round after the last release
  Round last_ = 0;
};

}  // namespace starling
