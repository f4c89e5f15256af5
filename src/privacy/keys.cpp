#include "starling/privacy/keys.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <fstream>
#include <memory>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"

namespace starling {

namespace {

void check_mac(bool done) {
  check<FailureError>(done, "a keyed hash failed in the cryptographic library");
}

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

MacContext make_context(const char* name) {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(nullptr, name, nullptr));
  check<FailureError>(mac != nullptr,
                      "the cryptographic library has no {} (noise keys are made with it) enable OpenSSL's default "
                      "provider",
                      name);
  MacContext context(EVP_MAC_CTX_new(mac.get()));
  check_mac(context != nullptr);
  return context;
}

/// One context per thread: a release happens every round, and making a context costs more than using it.
EVP_MAC_CTX* blake2b_context() {
  thread_local const MacContext context = make_context("BLAKE2BMAC");
  return context.get();
}
EVP_MAC_CTX* poly1305_context() {
  thread_local const MacContext context = make_context("POLY1305");
  return context.get();
}

/// Secret bytes; wiped when they go.
template <std::size_t size>
struct SecretBytes {
  std::array<unsigned char, size> bytes{};
  ~SecretBytes() { OPENSSL_cleanse(bytes.data(), size); }
};

/// BLAKE2b with a 32-byte key over an injective encoding. At most one lives at a time in a thread.
class KeyedHash {
 public:
  /// `size` is the length of the result in bytes.
  KeyedHash(std::span<const unsigned char, 32> key, std::string_view domain,
            std::size_t size = std::tuple_size_v<NoiseKey::Bytes>)
      : context_(blake2b_context()) {
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                     OSSL_PARAM_construct_end()};
    check_mac(EVP_MAC_init(context_, key.data(), key.size(), parameters) == 1);
    text(domain);
  }

  KeyedHash& number(std::uint64_t value) {
    if (used_ + sizeof value > buffer_.size()) flush();
    for (std::size_t i = 0; i < sizeof value; ++i) {
      buffer_[used_ + i] = static_cast<unsigned char>(value >> (8 * i));
    }
    used_ += sizeof value;
    return *this;
  }
  KeyedHash& integer(std::int64_t value) { return number(static_cast<std::uint64_t>(value)); }
  KeyedHash& real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
  KeyedHash& text(std::string_view value) {
    number(value.size());
    flush();
    check_mac(EVP_MAC_update(context_, reinterpret_cast<const unsigned char*>(value.data()), value.size()) == 1);
    return *this;
  }
  KeyedHash& bytes(std::span<const unsigned char> values) {
    return text({reinterpret_cast<const char*>(values.data()), values.size()});
  }

  NoiseKey finish() {
    SecretBytes<std::tuple_size_v<NoiseKey::Bytes>> result;
    finish(result.bytes);
    return NoiseKey(result.bytes);
  }
  /// Writes the result, whose length is that of the constructor.
  void finish(std::span<unsigned char> result) {
    flush();
    std::size_t length = 0;
    check_mac(EVP_MAC_final(context_, result.data(), &length, result.size()) == 1 && length == result.size());
  }

 private:
  void flush() {
    check_mac(EVP_MAC_update(context_, buffer_.data(), used_) == 1);
    used_ = 0;
  }

  EVP_MAC_CTX* context_;
  std::array<unsigned char, 512> buffer_;
  std::size_t used_ = 0;
};

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
  check(file.is_open(), "cannot read noise key file '{}' ({})", path, std::strerror(errno));
  file.read(text.bytes.data(), static_cast<std::streamsize>(text.bytes.size()));
  text.size = static_cast<std::size_t>(file.gcount());
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
