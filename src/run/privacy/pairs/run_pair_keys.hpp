/// The keys of the noise that clients share in pairs in a run (`--trust pairs`).
#pragma once

#include <string>
#include <vector>

#include "core/links.hpp"
#include "privacy/mechanism/masking.hpp"
#include "privacy/pairs/pair_noise.hpp"

namespace starling {

class Agreement;
class Introductions;
class PairGraph;

/// A rank's clients' keys of pairs, and everybody's public keys.
struct PairKeys {
  PairNoise::Ends ends;
  std::vector<MaskKey::Bytes> public_keys;
};

/// The keys for one run: a client's is made of its noise key and the run's id, and a pair's also of `attempt`, which
/// differs wherever a run with secret keys would release other integers. Members who have introduced themselves sign
/// their public keys; `introductions` is null in other runs. **Collective.** Throws UsageError or DataError for public
/// keys that came back changed, repeat each other, or are of low order, and FailureError for keys that their members
/// have not signed.
[[nodiscard]] PairKeys agree_on_pair_keys(Agreement& agreement, const Layout& layout, const PairGraph& graph,
                                          const std::vector<NoiseKey>& keys, const std::string& run_id,
                                          const std::string& attempt, const Introductions* introductions = nullptr);

}  // namespace starling
