/// Rate of agreement of clients over the rounds of a topology, measured rather than computed from eigenvalues.
#pragma once

#include <optional>

#include "graph/topology.hpp"

namespace starling {

struct MeasuredRate {
  double contraction = 1;  ///< factor of the span per round; 0 where it is gone
  std::optional<Round> rounds_to_1e_3;
};

/// Push-sum of random numbers over one period, or until their span has fallen by 1e-9, which is about as far as
/// rounding lets it be seen. Needs sender sums of one and own shares above zero.
[[nodiscard]] MeasuredRate measure_rate(const Topology& topology);

}  // namespace starling
