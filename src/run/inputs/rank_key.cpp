#include "rank_key.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/memory/wipe.hpp"
#include "privacy/keys/keystream.hpp"
#include "privacy/mechanism/masking.hpp"

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

RankKey::RankKey(Agreement& agreement) : agreement_(agreement), key_(agree_on_key(agreement)) {}

std::string RankKey::digest(const std::string& what, const std::string& content) const {
  return key_.commitment(sha256(what) + content);
}

std::string RankKey::broadcast(const std::string& text) {
  const bool sends = agreement_.rank() == 0;
  const std::string received = agreement_.broadcast(declare_public(sends ? encrypted(text) : std::string()));
  std::string result = sends ? text : encrypted(received);
  ++texts_;
  return result;
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
