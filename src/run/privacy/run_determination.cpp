// What determines the releases of a run: its keys, and which run it is.
#include <algorithm>

#include "net/agreement.hpp"
#include "noise_keys.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/mechanism.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run_privacy.hpp"

namespace starling {

bool RunPrivacy::is_lost(Client u) const {
  return facts_.served[static_cast<std::size_t>(u - first())].lost;
}

bool RunPrivacy::has_no_client_left() const {
  return std::ranges::all_of(facts_.served, [](const ServedRounds& each) { return each.lost; });
}

/// A client that is lost gets a key that nobody uses. Its public key may be in a list of all.
std::vector<NoiseKey> RunPrivacy::make_keys() const {
  if (earlier_ && key_policy() == NoiseKeyPolicy::random) return read_stored_keys(first(), count(), *earlier_);
  if (!clients_changed()) return make_noise_keys(options_.noise_key, facts_.seed, first(), count());
  std::vector<NoiseKey> keys;
  for (Client u = first(); u < first() + count(); ++u) {
    const bool known = !is_lost(u) || key_policy() == NoiseKeyPolicy::seed;
    keys.push_back(known ? make_noise_keys(options_.noise_key, facts_.seed, u, 1).front() : NoiseKey::random());
  }
  return keys;
}

/// Whether a round's releases are others where more rounds follow.
bool RunPrivacy::depends_on_rounds() const {
  return facts_.rounds_matter || !prices_->constant() || options_.mechanism_row().depends_on_rounds;
}

/// Digest of all that determines the run's integers; empty if it cannot be replayed. Data enter by digests under the
/// owners' keys, which tell nobody anything. **Collective.**
std::string RunPrivacy::determination() const {
  std::string more;
  if (limits_) more += limits_->text() + "\n";
  if (facts_.correlation) more += facts_.correlation->text() + "\n";
  if (facts_.pairs) more += facts_.pairs->text(facts_.pairs->terms()) + "\n";
  if (depends_on_rounds()) more += fmt::format("rounds {}\n", facts_.rounds);
  std::string all;
  agreement_.together([&] { all = matter(more); });
  std::vector<NoiseKey> keys;
  std::vector<std::string> data = facts_.data.size() == 1 ? facts_.data : std::vector<std::string>();
  for (Client u = first(); clients_changed() && u < first() + count(); ++u) {
    if (is_lost(u)) continue;
    keys.push_back(keys_[static_cast<std::size_t>(u - first())]);
    if (facts_.data.size() > 1) data.push_back(facts_.data[static_cast<std::size_t>(u - first())]);
  }
  return clients_changed() ? digest_of(all, keys, data) : digest_of(all, keys_, facts_.data);
}

}  // namespace starling
