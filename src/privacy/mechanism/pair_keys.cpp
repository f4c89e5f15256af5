#include "privacy/mechanism/pair_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace starling {

std::vector<PairEnd> ends_of_client(Client u, const MaskKey& own, const std::vector<MaskKey::Bytes>& public_keys,
                                    const PairGraph& graph, const std::string& run_id, const std::string& attempt,
                                    const PairNoise::Ends& made) {
  std::vector<PairEnd> ends;
  ends.reserve(graph.degree(u));
  for (const Client v : graph.partners(u)) {
    if (const auto other = made.find(v); other != made.end()) {
      ends.push_back({std::ranges::lower_bound(other->second, u, {}, &PairEnd::partner)->key, v, u < v ? 1U : 0U});
      continue;
    }
    const std::string purpose =
        fmt::format("starling pair noise 1\n{}\n{}\n{} {}", run_id, attempt, std::min(u, v), std::max(u, v));
    ends.push_back({own.common_key(public_keys[static_cast<std::size_t>(v)], purpose), v, u < v ? 1U : 0U});
  }
  return ends;
}

}  // namespace starling
