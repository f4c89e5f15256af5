#include "privacy/mechanism/pair_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace starling {

std::vector<PairEnd> ends_of_client(Client u, const MaskKey& own, const std::vector<MaskKey::Bytes>& public_keys,
                                    const PairGraph& graph, const std::string& run_id, const std::string& attempt) {
  std::vector<PairEnd> ends;
  for (const Client v : graph.partners(u)) {
    const std::string purpose =
        fmt::format("starling pair noise 1\n{}\n{}\n{} {}", run_id, attempt, std::min(u, v), std::max(u, v));
    ends.push_back({own.common_key(public_keys[static_cast<std::size_t>(v)], purpose), v, u < v});
  }
  return ends;
}

}  // namespace starling
