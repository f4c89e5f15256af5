#include "privacy/keys/keystream.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <openssl/evp.h>

#include "cipher.hpp"
#include "core/memory/wipe.hpp"

namespace starling {

namespace {

constexpr std::size_t first_fill = 256;  // bytes: enough for a small model, which would not repay a full buffer
constexpr std::size_t full_buffer = 4096;
// ChaCha20's own block, and how much is encrypted in one call: from 1 KiB on OpenSSL's cipher runs at full speed (5
// GB/s on an EPYC with AVX-512, 2.4 at 512 bytes), 8 KiB and the zeros that they are made of stay in the first-level
// cache.
constexpr std::size_t cipher_block = 64;
constexpr std::size_t most_at_once = 8192;
alignas(cipher_block) constexpr unsigned char zeros[most_at_once] = {};

/// From the stream's order of bytes, little-endian, to the machine's.
void order_bytes(std::span<std::uint64_t> words) {
  if constexpr (std::endian::native != std::endian::little) {
    for (std::uint64_t& word : words) word = __builtin_bswap64(word);
  }
}

}  // namespace

struct Keystream::State {
  ~State() { wipe(buffer); }
  /// `cipher` is null where the context already has the cipher.
  void start(const EVP_CIPHER* cipher, const StreamStart& start) {
    check_cipher(EVP_EncryptInit_ex2(context.get(), cipher, start.key.bytes().data(), start.counter_and_nonce.data(),
                                     nullptr) == 1);
    used = filled = 0;
    next_fill = first_fill;
  }
  /// The next `count` bytes of the stream, at most most_at_once: zeros, encrypted.
  void generate(unsigned char* bytes, std::size_t count) {
    int length = 0;
    const int wanted = static_cast<int>(count);
    check_cipher(EVP_EncryptUpdate(context.get(), bytes, &length, zeros, wanted) == 1 && length == wanted);
  }
  void refill() {
    generate(buffer.data(), next_fill);
    used = 0;
    filled = next_fill;
    next_fill = std::min(2 * next_fill, full_buffer);
  }
  std::uint64_t next() {
    if (used == filled) refill();
    std::uint64_t word = 0;
    drain({&word, 1});
    return word;
  }
  /// Moves words from the buffer to `out`, as many as both allow; returns how many.
  std::size_t drain(std::span<std::uint64_t> out) {
    const std::size_t count = std::min(out.size(), (filled - used) / sizeof(std::uint64_t));
    if (count == 0) return 0;
    std::memcpy(out.data(), &buffer[used], count * sizeof(std::uint64_t));
    used += count * sizeof(std::uint64_t);
    order_bytes(out.first(count));
    return count;
  }
  /// The next words past the buffer, which must be empty; their number is a multiple of the cipher's block.
  void generate_words(std::span<std::uint64_t> out) {
    while (!out.empty()) {
      const std::size_t count = std::min(out.size(), most_at_once / sizeof(std::uint64_t));
      generate(reinterpret_cast<unsigned char*>(out.data()), count * sizeof(std::uint64_t));
      order_bytes(out.first(count));
      out = out.subspan(count);
    }
  }

  CipherContext context{EVP_CIPHER_CTX_new()};
  std::size_t used = 0;
  std::size_t filled = 0;
  std::size_t next_fill = first_fill;
  std::array<unsigned char, full_buffer> buffer{};
};

Keystream::Keystream(const StreamStart& start) : state_(std::make_unique<State>()) {
  check_cipher(state_->context != nullptr);
  state_->start(EVP_chacha20(), start);
}

Keystream::~Keystream() = default;
Keystream::Keystream(Keystream&&) noexcept = default;
Keystream& Keystream::operator=(Keystream&&) noexcept = default;

void Keystream::restart(const StreamStart& start) {
  state_->start(nullptr, start);
}

std::uint64_t Keystream::operator()() {
  return state_->next();
}

void Keystream::words(std::span<std::uint64_t> out) {
  State& state = *state_;
  out = out.subspan(state.drain(out));
  constexpr std::size_t words_per_block = cipher_block / sizeof(std::uint64_t);
  const std::size_t whole = out.size() / words_per_block * words_per_block;
  state.generate_words(out.first(whole));
  for (std::uint64_t& word : out.subspan(whole)) word = state.next();
}

}  // namespace starling
