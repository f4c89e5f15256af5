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
  check<FailureError>(done, "BLAKE2b failed in the cryptographic library");
}

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

std::unique_ptr<EVP_MAC_CTX, FreeMac> make_context() {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(nullptr, "BLAKE2BMAC", nullptr));
  check<FailureError>(mac != nullptr,
                      "the cryptographic library has no BLAKE2b (noise keys are made with it) enable OpenSSL's default "
                      "provider");
  return std::unique_ptr<EVP_MAC_CTX, FreeMac>(EVP_MAC_CTX_new(mac.get()));
}

/// One context per thread: a release happens every round, and making a context costs more than using it.
EVP_MAC_CTX* thread_context() {
  thread_local const std::unique_ptr<EVP_MAC_CTX, FreeMac> context = make_context();
  check_mac(context != nullptr);
  return context.get();
}

/// BLAKE2b-256 with a 32-byte key over an injective encoding. At most one lives at a time in a thread.
class KeyedHash {
 public:
  KeyedHash(std::span<const unsigned char, 32> key, std::string_view domain) : context_(thread_context()) {
    std::size_t size = std::tuple_size_v<NoiseKey::Bytes>;
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
  KeyedHash& integers(std::span<const std::int64_t> values) {
    number(values.size());
    for (const std::int64_t value : values) integer(value);
    return *this;
  }

  NoiseKey finish() {
    flush();
    NoiseKey::Bytes bytes;
    std::size_t length = 0;
    check_mac(EVP_MAC_final(context_, bytes.data(), &length, bytes.size()) == 1 && length == bytes.size());
    NoiseKey result(bytes);
    OPENSSL_cleanse(bytes.data(), bytes.size());
    return result;
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
  KeyedHash hash(client_key.bytes(), "starling release key 1");
  hash.text(run_id).integer(address.client).integer(address.round).number(address.index);
  hash.text(mechanism).real(scale).real(step).integers(integers);
  return hash.finish();
}

}  // namespace starling
