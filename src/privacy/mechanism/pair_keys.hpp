/// The keys of pairs of clients, from X25519 keys of their two ends.
#pragma once

#include <string>
#include <vector>

#include "privacy/mechanism/masking.hpp"
#include "privacy/pairs/pair_graph.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

/// Client u's ends of its pairs. `public_keys` are those of all clients, `own` is the key of u. Keys also depend on the
/// run's id and on `attempt`, which differs wherever a run with secret keys would release other integers. Keys of pairs
/// whose other end is in `made` are taken from there. Throws UsageError for a key of low order.
[[nodiscard]] std::vector<PairEnd> ends_of_client(Client u, const MaskKey& own,
                                                  const std::vector<MaskKey::Bytes>& public_keys,
                                                  const PairGraph& graph, const std::string& run_id,
                                                  const std::string& attempt, const PairNoise::Ends& made = {});

}  // namespace starling
