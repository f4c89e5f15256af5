#include "run_pair_keys.hpp"

#include <iterator>
#include <set>

#include "core/check.hpp"
#include "net/agreement.hpp"
#include "privacy/mechanism/pair_keys.hpp"
#include "run/identity/introductions.hpp"

namespace starling {

namespace {

void check_public_keys(const std::vector<MaskKey::Bytes>& keys, Client clients) {
  check<DataError>(std::ssize(keys) == clients,
                   "{} public keys came for the pairs of {} clients: whoever relays them changed them. Do not go on.",
                   keys.size(), clients);
  check(std::set<MaskKey::Bytes>(keys.begin(), keys.end()).size() == keys.size(),
        "two clients have the same public key: the noise of their pairs could be computed by both. Give each client a "
        "key of its own.");
}

}  // namespace

PairKeys agree_on_pair_keys(Agreement& agreement, const Layout& layout, const PairGraph& graph,
                            const std::vector<NoiseKey>& keys, const std::string& run_id, const std::string& attempt,
                            const Introductions* introductions) {
  std::vector<MaskKey> own;
  agreement.together([&] {
    for (const NoiseKey& key : keys) own.push_back(MaskKey::derived(key, run_id));
  });
  PairKeys result;
  result.public_keys = received_keys(own, relay_of(agreement, introductions, "public keys of pairs in run " + run_id));
  agreement.together([&] {
    check_public_keys(result.public_keys, layout.clients());
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Client u = layout.first(agreement.rank()) + static_cast<Client>(k);
      check<DataError>(result.public_keys[static_cast<std::size_t>(u)] == own[k].public_key(),
                       "the public key of client {} came back changed: whoever relays the keys may have exchanged it. "
                       "Do not go on.",
                       u);
      std::vector<PairEnd> ends = ends_of_client(u, own[k], result.public_keys, graph, run_id, attempt, result.ends);
      result.ends.emplace(u, std::move(ends));
    }
  });
  return result;
}

}  // namespace starling
