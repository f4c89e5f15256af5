#include "privacy/shares/share_keys.hpp"

#include <algorithm>
#include <cstring>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "privacy/keys/keystream.hpp"

namespace starling {

namespace {

std::string bytes_of(const Vector& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

NoiseKey no_key() {
  return NoiseKey(NoiseKey::Bytes{});
}

}  // namespace

MaskKey DataKeys::of(const NoiseKey& key, const std::string& run_id, const Secret<Vector>& rows,
                     const Secret<Vector>& labels, std::span<const std::size_t> records_of_person) {
  std::string digest = sha256(bytes_of(open(rows))) + sha256(bytes_of(open(labels)));
  if (!records_of_person.empty()) {
    digest += sha256(bytes_of(Vector(records_of_person.begin(), records_of_person.end())));
  }
  return MaskKey::derived(key, fmt::format("{} shares {}", run_id, digest));
}

ShareKeys::ShareKeys(const std::vector<MaskKey>& own, Client first, const std::vector<MaskKey::Bytes>& public_keys)
    : first_(first), dealing_(public_keys.size() - 1, no_key()) {
  std::string list;
  for (const MaskKey::Bytes& key : public_keys) list.append(key.begin(), key.end());
  const std::string of_all = sha256(list);
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Client u = first + static_cast<Client>(k);
    check<DataError>(own[k].public_key() == public_keys[static_cast<std::size_t>(u)],
                     "the public key of client {} came back changed: whoever relays keys exchanged it. Do not go on.",
                     u);
    pairs_.emplace_back();
    for (std::size_t v = 0; v < public_keys.size(); ++v) {
      const auto other = static_cast<Client>(v);
      pairs_[k].push_back(other == u ? no_key()
                                     : own[k].common_key(public_keys[v], "starling shares: messages 1 " + of_all));
      if (other == u || (other != 0 && u != 0)) continue;
      dealing_[static_cast<std::size_t>(std::max(u, other) - 1)] =
          own[k].common_key(public_keys[v], "starling shares: dealing 1 " + of_all);
    }
  }
}

const NoiseKey& ShareKeys::dealing(Client party) const {
  return dealing_[static_cast<std::size_t>(party - 1)];
}

std::vector<Word> ShareKeys::pad(std::size_t count, Client own, Client from, Client to, Round t,
                                 std::uint32_t step) const {
  const Client other = own == from ? to : from;
  const NoiseKey& pair = pairs_[static_cast<std::size_t>(own - first_)][static_cast<std::size_t>(other)];
  StreamStart start(pair.for_run(from < to ? "up" : "down"));
  const auto round = static_cast<std::uint64_t>(t);
  std::memcpy(start.counter_and_nonce.data() + 4, &round, sizeof round);
  std::memcpy(start.counter_and_nonce.data() + 12, &step, sizeof step);
  std::vector<Word> words(count);
  Keystream(start).words(words);
  return words;
}

Masked ShareKeys::hide(const Masked& words, Client from, Client to, Round t, std::uint32_t step) const {
  std::vector<Word> hidden = pad(words.words().size(), from, from, to, t, step);
  add_words(words.words(), hidden);
  return make_share(std::move(hidden));
}

void ShareKeys::show(std::vector<Word>& words, Client from, Client to, Round t, std::uint32_t step) const {
  subtract_words(pad(words.size(), to, from, to, t, step), words);
}

}  // namespace starling
