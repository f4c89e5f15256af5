/// Keys of pairs for tests: not private.
#pragma once

#include <algorithm>
#include <cstdint>

#include "privacy/pairs/pair_graph.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

/// Both ends of each pair, with a key for each pair.
inline PairNoise::Ends numbered_ends(const PairGraph& graph, std::uint64_t seed) {
  PairNoise::Ends ends;
  for (Client u = 0; u < graph.clients(); ++u) {
    for (const Client v : graph.partners(u)) {
      ends[u].push_back({NoiseKey::from_seed(seed, 1000 * std::min(u, v) + std::max(u, v)), v, u < v ? 1U : 0U});
    }
  }
  return ends;
}

}  // namespace starling
