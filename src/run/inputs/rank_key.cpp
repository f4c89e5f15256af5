#include "rank_key.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/memory/wipe.hpp"
#include "net/agreement.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism/masking.hpp"
#include "run/identity/introductions.hpp"

namespace starling {

namespace {

constexpr const char* purpose = "starling key of all ranks 1";
constexpr std::size_t bytes_of_key = 32;

std::string text_of(std::span<const unsigned char> bytes) {
  return {bytes.begin(), bytes.end()};
}

/// The key under another that is used for nothing else: its own inverse.
NoiseKey::Bytes under(const NoiseKey& key, std::span<const unsigned char, bytes_of_key> other) {
  NoiseKey::Bytes result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<unsigned char>(key.bytes()[i] ^ other[i]);
  }
  return result;
}

MaskKey::Bytes public_key_of(const std::string& text) {
  check<FailureError>(text.size() == bytes_of_key, "a public key of {} bytes came: it has {}.", text.size(),
                      bytes_of_key);
  MaskKey::Bytes bytes{};
  std::ranges::copy(text, bytes.begin());
  return bytes;
}

/// Rank 0's key, under keys of the fresh exchanges that members have signed. **Collective.**
NoiseKey agree_on_key(Agreement& agreement, const Introductions& introductions) {
  NoiseKey key = NoiseKey::random();
  const std::string serial =
      key.commitment("serial of a key of all ranks");  // public, so that no pair's key comes again
  const std::string number = agreement.broadcast(declare_public(serial));
  const std::string use = fmt::format("{} {}", purpose, number);
  const auto pair_of = [&](int rank, const char* half) { return introductions.pair_key(rank, use + half); };
  std::string sent;
  agreement.together([&] {
    for (int r = 1; r < agreement.ranks() && agreement.rank() == 0; ++r) {
      const NoiseKey::Bytes hidden = under(key, pair_of(r, " hides").bytes());
      sent += to_hex(text_of(hidden)) + pair_of(r, " tags").commitment(text_of(hidden));
    }
  });
  const std::string received = agreement.broadcast(declare_public(sent));
  agreement.together([&] {
    if (agreement.rank() == 0) return;
    constexpr std::size_t digits = 2 * bytes_of_key;
    const std::size_t place = static_cast<std::size_t>(agreement.rank() - 1) * 2 * digits;
    MaskKey::Bytes hidden{};
    const bool whole = received.size() >= place + 2 * digits && from_hex(received.substr(place, digits), hidden) &&
                       pair_of(0, " tags").commitment(text_of(hidden)) == received.substr(place + digits, digits);
    check<FailureError>(whole,
                        "the key of all ranks did not come from rank 0 to rank {} as it was sent: somebody between "
                        "them changes messages. Do not go on before you know who.",
                        agreement.rank());
    key = NoiseKey(under(pair_of(0, " hides"), hidden));
  });
  return key;
}

NoiseKey agree_on_key(Agreement& agreement) {
  const MaskKey own = MaskKey::random();
  const auto shown = agreement.all_gather(declare_public(text_of(own.public_key())));
  NoiseKey key = NoiseKey::random();
  std::string sent;
  agreement.together([&] {
    for (std::size_t r = 1; r < shown.size() && agreement.rank() == 0; ++r) {
      const NoiseKey pair = own.common_key(public_key_of(shown[r]), purpose);
      const NoiseKey::Bytes hidden = under(key, pair.bytes());
      sent += text_of(hidden);
    }
  });
  const std::string received = agreement.broadcast(declare_public(sent));
  agreement.together([&] {
    if (agreement.rank() == 0) return;
    const NoiseKey pair = own.common_key(public_key_of(shown.front()), purpose);
    const std::size_t place = static_cast<std::size_t>(agreement.rank() - 1) * bytes_of_key;
    const MaskKey::Bytes hidden = public_key_of(received.substr(place, bytes_of_key));
    key = NoiseKey(under(pair, hidden));
  });
  return key;
}

}  // namespace

RankKey::RankKey(Agreement& agreement, const Introductions* introductions)
    : agreement_(agreement),
      tags_(introductions != nullptr),
      key_(tags_ ? agree_on_key(agreement, *introductions) : agree_on_key(agreement)) {}

std::string RankKey::digest(const std::string& what, const std::string& content) const {
  return key_.commitment(sha256(what) + content);
}

std::string RankKey::broadcast(const std::string& text, int from) {
  const bool sends = agreement_.rank() == from;
  std::string hidden = sends ? encrypted(text) : std::string();
  const Public<std::string> shown = declare_public(sends ? hidden + tag_of(hidden) : std::string());
  std::string received =
      from == 0 ? agreement_.broadcast(shown) : agreement_.all_gather(shown)[static_cast<std::size_t>(from)];
  if (tags_) {
    agreement_.together([&] {
      const std::size_t behind = received.size() - std::min(received.size(), 2 * bytes_of_key);
      hidden = received.substr(0, behind);
      check<FailureError>(received.substr(behind) == tag_of(hidden),
                          "a text from rank {} came changed to rank {}: somebody between them changes messages. Do not "
                          "go on before you know who.",
                          from, agreement_.rank());
      received = hidden;
    });
  }
  std::string result = sends ? text : encrypted(received);
  ++texts_;
  return result;
}

std::string RankKey::tag_of(const std::string& hidden) const {
  return tags_ ? digest(fmt::format("text {}", texts_), hidden) : std::string();
}

/// Its own inverse.
std::string RankKey::encrypted(std::string text) const {
  std::vector<std::uint64_t> words(text.size() / sizeof(std::uint64_t) + 1);
  Keystream(key_.for_run(fmt::format("text {}", texts_))).words(words);
  const auto* const stream = reinterpret_cast<const unsigned char*>(words.data());
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(static_cast<unsigned char>(text[i]) ^ stream[i]);
  }
  wipe(words);
  return text;
}

}  // namespace starling
