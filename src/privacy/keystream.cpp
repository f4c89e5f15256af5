#include "starling/privacy/keystream.hpp"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "starling/core/check.hpp"

namespace starling {

namespace {

constexpr std::size_t first_fill = 256;  // bytes: enough for a small model, which would not repay a full buffer
constexpr std::size_t full_buffer = 4096;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

void check_cipher(bool done) {
  check<FailureError>(done, "ChaCha20 failed in the cryptographic library");
}

}  // namespace

struct Keystream::State {
  ~State() { OPENSSL_cleanse(buffer.data(), buffer.size()); }
  /// Starts again at counter 0, nonce 0 (RFC 8439); `cipher` is null where the context has it already.
  void start(const EVP_CIPHER* cipher, const NoiseKey& key) {
    static constexpr unsigned char counter_and_nonce[16] = {};
    check_cipher(EVP_EncryptInit_ex(context.get(), cipher, nullptr, key.bytes().data(), counter_and_nonce) == 1);
    used = filled = 0;
    next_fill = first_fill;
  }
  void refill() {
    int length = 0;
    std::fill_n(buffer.begin(), next_fill, static_cast<unsigned char>(0));
    const int wanted = static_cast<int>(next_fill);
    check_cipher(EVP_EncryptUpdate(context.get(), buffer.data(), &length, buffer.data(), wanted) == 1 &&
                 length == wanted);
    used = 0;
    filled = next_fill;
    next_fill = std::min(2 * next_fill, full_buffer);
  }

  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context{EVP_CIPHER_CTX_new()};
  std::size_t used = 0;
  std::size_t filled = 0;
  std::size_t next_fill = first_fill;
  std::array<unsigned char, full_buffer> buffer{};
};

Keystream::Keystream(const NoiseKey& key) : state_(std::make_unique<State>()) {
  check_cipher(state_->context != nullptr);
  state_->start(EVP_chacha20(), key);
}

Keystream::~Keystream() = default;
Keystream::Keystream(Keystream&&) noexcept = default;
Keystream& Keystream::operator=(Keystream&&) noexcept = default;

void Keystream::restart(const NoiseKey& key) {
  state_->start(nullptr, key);
}

std::uint64_t Keystream::operator()() {
  State& state = *state_;
  if (state.used == state.filled) state.refill();
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < sizeof word; ++i) {
    word |= static_cast<std::uint64_t>(state.buffer[state.used + i]) << (8 * i);
  }
  state.used += sizeof word;
  return word;
}

}  // namespace starling
