/// Keyed hashes for the derivation of keys, and helpers for all keyed functions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "core/memory/wipe.hpp"
#include "privacy/keys/keys.hpp"

namespace starling {

/// Throws FailureError unless the call of the cryptographic library succeeded.
void check_mac(bool done);

/// One context per thread. A release happens every round, and a context costs more to make than to use.
EVP_MAC_CTX* blake2b_context();
EVP_MAC_CTX* poly1305_context();

/// Secret bytes, wiped on destruction.
template <std::size_t size>
struct SecretBytes {
  std::array<unsigned char, size> bytes{};
  ~SecretBytes() { wipe(bytes); }
};

/// BLAKE2b or Poly1305 with a 32-byte key over an injective encoding. At most one of each lives at a time in a thread.
class KeyedHash {
 public:
  /// BLAKE2b; `size` is the length of the result in bytes.
  KeyedHash(std::span<const unsigned char, 32> key, std::string_view domain,
            std::size_t size = std::tuple_size_v<NoiseKey::Bytes>)
      : context_(blake2b_context()) {
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                     OSSL_PARAM_construct_end()};
    check_mac(EVP_MAC_init(context_, key.data(), key.size(), parameters) == 1);
    text(domain);
  }
  /// Poly1305 (RFC 8439), whose result has 16 bytes, under a key that has no other use.
  [[nodiscard]] static KeyedHash poly1305(std::span<const unsigned char, 32> key) {
    return KeyedHash(poly1305_context(), key);
  }

  ~KeyedHash() { wipe_secrets(); }
  KeyedHash(const KeyedHash&) = delete;
  KeyedHash& operator=(const KeyedHash&) = delete;

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
  /// Adds secret items, preceded by their number.
  KeyedHash& integers(std::span<const std::int64_t> values) {
    number(values.size());
    if (std::endian::native == std::endian::little && used_ + values.size_bytes() > buffer_.size()) {
      flush();
      update(reinterpret_cast<const unsigned char*>(values.data()), values.size_bytes());
    } else {
      holds_secrets_ = true;
      for (const std::int64_t value : values) integer(value);
    }
    return *this;
  }
  /// Adds text, preceded by its length. The text must not be secret, because its copy is not wiped.
  KeyedHash& text(std::string_view value) {
    number(value.size());
    if (used_ + value.size() > buffer_.size()) {
      flush();
      update(reinterpret_cast<const unsigned char*>(value.data()), value.size());
    } else {
      used_ = static_cast<std::size_t>(std::copy(value.begin(), value.end(), &buffer_[used_]) - buffer_.data());
    }
    return *this;
  }
  /// Adds items, preceded by their number.
  KeyedHash& bytes(std::span<const unsigned char> values) {
    number(values.size());
    flush();
    update(values.data(), values.size());
    return *this;
  }

  NoiseKey finish() {
    SecretBytes<std::tuple_size_v<NoiseKey::Bytes>> result;
    finish(result.bytes);
    return NoiseKey(result.bytes);
  }
  /// Writes the whole result.
  void finish(std::span<unsigned char> result) {
    flush();
    std::size_t length = 0;
    check_mac(EVP_MAC_final(context_, result.data(), &length, result.size()) == 1 && length == result.size());
  }

 private:
  KeyedHash(EVP_MAC_CTX* context, std::span<const unsigned char, 32> key) : context_(context) {
    check_mac(EVP_MAC_init(context_, key.data(), key.size(), nullptr) == 1);
  }

  void update(const unsigned char* data, std::size_t size) { check_mac(EVP_MAC_update(context_, data, size) == 1); }
  void flush() {
    update(buffer_.data(), used_);
    wipe_secrets();
    used_ = 0;
  }
  void wipe_secrets() {
    if (holds_secrets_) wipe(buffer_.data(), used_);
    holds_secrets_ = false;
  }

  EVP_MAC_CTX* context_;
  std::array<unsigned char, 512> buffer_;
  std::size_t used_ = 0;
  bool holds_secrets_ = false;
};

}  // namespace starling
