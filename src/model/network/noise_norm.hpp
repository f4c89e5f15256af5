/// How far noise in the parameters of a network moves its scores.
#pragma once

#include <cstdint>

#include "model/network/network.hpp"

namespace starling {

/// shift/s, where noise of deviation s in every parameter moves the scores of records of this Euclidean norm by `shift`
/// (root mean square), at the network's start of this seed: what takes the place of a record's norm in a linear model
/// (docs/methods/learning-rule.md). Found by passes of a few records in random directions, with the same draws of
/// noise at every s that is tried. No data are read.
[[nodiscard]] double noise_norm(const Architecture& architecture, double norm, double shift, std::uint64_t seed);

}  // namespace starling
