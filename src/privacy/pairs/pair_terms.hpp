/// Terms and rounds of noise between pairs, on which its price depends (proof in pair_noise.hpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>

#include "core/links.hpp"

namespace starling {

class PairGraph;

/// Exposure, ratio and rounding of noise between pairs; by default there is none.
struct PairTerms {
  static constexpr std::size_t most_batch = std::size_t{1} << 20;  ///< records of a sum, whose integers are below 2^60
  static constexpr Round most_rounds = Round{1} << 20;             ///< of a chain of correlated noise
  static constexpr double largest_sigma = 0x1p55;                  ///< of all noise of a client together

  double exposure = 1;  ///< h
  double ratio = 0;     ///< r
  double rounding = 0;  ///< R
  std::size_t most_degree = 0;

  /// Those of a graph of pairs, with this r and h.
  [[nodiscard]] static PairTerms of(const PairGraph& graph, double ratio, double exposure);

  /// √h Δ + ½ √(R · entries), rounded up: what a shift of norm Δ in so many components costs, in units of σ_a.
  [[nodiscard]] double shift(double norm, double entries) const {
    if (ratio == 0) return norm;
    return (std::sqrt(exposure) * norm + 0.5 * std::sqrt(rounding * entries)) * (1 + 0x1p-40);
  }
  /// The deviation of all noise of a client, in units of σ_a.
  [[nodiscard]] double whole() const { return std::sqrt(1 + ratio * ratio * static_cast<double>(most_degree)); }
};

/// The public schedule of releases: which clients release in which rounds. By default every client does in each.
struct PairRounds {
  std::function<bool(Client, Round)> releases;  ///< none: always
  /// Whether pairs are used in a round that one end sits out: they hide the other end, and do not cancel.
  std::function<bool(Round)> uses_all;
};

}  // namespace starling
