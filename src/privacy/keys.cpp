#include "starling/privacy/keys.hpp"

#include "keyed_hash.hpp"
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <fstream>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"

namespace starling {

namespace {

/// Poly1305 (RFC 8439) of integers in 64-bit little-endian form under a key that has no other use.
SecretBytes<16> poly1305(std::span<const unsigned char, 32> key, std::span<const std::int64_t> integers) {
  EVP_MAC_CTX* const context = poly1305_context();
  check_mac(EVP_MAC_init(context, key.data(), key.size(), nullptr) == 1);
  if constexpr (std::endian::native == std::endian::little) {
    check_mac(EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(integers.data()), integers.size_bytes()) ==
              1);
  } else {
    for (const std::int64_t integer : integers) {
      const std::uint64_t swapped = __builtin_bswap64(static_cast<std::uint64_t>(integer));
      check_mac(EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(&swapped), sizeof swapped) == 1);
    }
  }
  SecretBytes<16> tag;
  std::size_t length = 0;
  check_mac(EVP_MAC_final(context, tag.bytes.data(), &length, tag.bytes.size()) == 1 && length == tag.bytes.size());
  return tag;
}

std::string hex_of(std::span<const unsigned char> bytes) {
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// A key file's content, at most one byte more than the longest that is allowed; wiped when it goes.
struct KeyText {
  std::array<char, 67> bytes{};
  std::size_t size = 0;
  ~KeyText() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

void load(const std::string& path, KeyText& text) {
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // no copy of the key in a buffer that nobody wipes
  file.open(path, std::ios::binary);
  check(file.is_open() || errno != ENOENT, "cannot read noise key file '{}' (it is not there) name another", path);
  check<FailureError>(file.is_open(), "cannot read noise key file '{}' ({}) see to its permissions", path,
                      std::strerror(errno));
  file.read(text.bytes.data(), static_cast<std::streamsize>(text.bytes.size()));
  text.size = static_cast<std::size_t>(file.gcount());
  check<FailureError>(!file.bad(), "cannot read noise key file '{}' ({}) see to its permissions", path,
                      std::strerror(errno));
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Length without one line end.
std::size_t line_length(std::string_view text) {
  if (text.ends_with("\r\n")) return text.size() - 2;
  return text.ends_with('\n') ? text.size() - 1 : text.size();
}

void parse_hex(std::string_view digits, const std::string& path, NoiseKey::Bytes& bytes) {
  const bool right_length = digits.size() == 2 * bytes.size();
  const bool all_digits = std::all_of(digits.begin(), digits.end(), [](char c) { return digit_value(c) >= 0; });
  check(right_length && all_digits,
        "noise key file '{}' is not a key (it must hold 64 hexadecimal digits or exactly 32 raw bytes) make one with "
        "'openssl rand -hex 32'",
        path);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(digit_value(digits[2 * i]) * 16 + digit_value(digits[2 * i + 1]));
  }
}

}  // namespace

NoiseKey::~NoiseKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

NoiseKey NoiseKey::random() {
  NoiseKey key{Bytes{}};
  check<FailureError>(RAND_priv_bytes(key.bytes_.data(), static_cast<int>(key.bytes_.size())) == 1,
                      "no random bytes from the operating system (the noise key is made of them)");
  return key;
}

NoiseKey NoiseKey::from_seed(std::uint64_t seed, Client client) {
  Bytes key{};
  for (std::size_t i = 0; i < sizeof seed; ++i) key[i] = static_cast<unsigned char>(seed >> (8 * i));
  return KeyedHash(key, "starling noise key from seed 1").integer(client).finish();
}

NoiseKey NoiseKey::read(const std::string& path) {
  KeyText text;
  load(path, text);
  NoiseKey key{Bytes{}};
  const std::string_view content(text.bytes.data(), text.size);
  if (content.size() == key.bytes_.size()) {
    std::memcpy(key.bytes_.data(), content.data(), content.size());
  } else {
    parse_hex(content.substr(0, line_length(content)), path, key.bytes_);
  }
  return key;
}

std::string NoiseKey::commitment(std::string_view run_id) const {
  return hex_of(KeyedHash(bytes_, "starling noise key commitment 1").text(run_id).finish().bytes());
}

std::string NoiseKey::hex() const {
  return hex_of(bytes_);
}

NoiseKey release_key(const NoiseKey& client_key, std::string_view run_id, const ReleaseAddress& address,
                     std::string_view mechanism, double scale, double step, std::span<const std::int64_t> integers) {
  SecretBytes<64> keys;  // the address key, then the key of Poly1305: a hash's halves are independent
  const std::span<const unsigned char, 64> both(keys.bytes);
  KeyedHash(client_key.bytes(), "starling release address 2", both.size())
      .text(run_id)
      .integer(address.client)
      .integer(address.round)
      .number(address.index)
      .text(mechanism)
      .real(scale)
      .real(step)
      .number(integers.size())
      .finish(keys.bytes);
  const SecretBytes<16> tag = poly1305(both.last<32>(), integers);
  return KeyedHash(both.first<32>(), "starling release key 2").bytes(tag.bytes).finish();
}

}  // namespace starling
