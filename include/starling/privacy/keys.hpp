/// A client's noise key and the per-release keys made from it (method 6, release, item 4).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "starling/core/links.hpp"

namespace starling {

/// 256 secret bits; wiped when it goes.
class NoiseKey {
 public:
  using Bytes = std::array<unsigned char, 32>;
  explicit NoiseKey(const Bytes& bytes) : bytes_(bytes) {}
  ~NoiseKey();
  NoiseKey(const NoiseKey&) = default;
  NoiseKey& operator=(const NoiseKey&) = default;

  /// From the operating system.
  [[nodiscard]] static NoiseKey random();
  /// Derived from a public seed: reproducible, and therefore not private.
  [[nodiscard]] static NoiseKey from_seed(std::uint64_t seed, Client client);
  /// From a file of 64 hexadecimal digits (one line end may follow) or of exactly 32 raw bytes. Throws UsageError if
  /// it is not there or is no key, FailureError if it cannot be read: no message quotes it.
  [[nodiscard]] static NoiseKey read(const std::string& path);

  /// What may be shown to others, to find equal keys: keyed BLAKE2b of the run id, 64 hexadecimal digits.
  [[nodiscard]] std::string commitment(std::string_view run_id) const;
  /// The key itself as 64 hexadecimal digits, in the form that `read` takes: for the client's private folder alone.
  [[nodiscard]] std::string hex() const;
  [[nodiscard]] std::span<const unsigned char, 32> bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// Which release of a run a noise vector belongs to.
struct ReleaseAddress {
  Client client = 0;
  Round round = 0;
  std::uint32_t index = 0;  ///< number of the release within the round
};

/// Key of one release, a function of the client's key and of (run id, client, round, release index, mechanism, scale,
/// step, clipped integers). The same data give the same noise on replay; different data never meet it again.
///
///   address key (32 bytes), one-time key (32 bytes) = BLAKE2b-512, keyed with the client's key, of ("starling release
///       address 2", run id, client, round, index, mechanism, scale, step, number of integers)
///   tag = Poly1305 of the integers under the one-time key
///   release key = BLAKE2b-256, keyed with the address key, of ("starling release key 2", tag)
///
/// The encoding of the hashes is injective: texts and bytes are preceded by their length, all numbers are 64-bit
/// little-endian, doubles enter by their bits; so are the integers under Poly1305.
///
/// Why Poly1305 suffices, which takes a thirteenth of BLAKE2b's time and is no hash that anybody may see: its key
/// belongs to one address alone and is secret, and so are the tags. Two different vectors of n integers then have equal
/// tags with probability at most 8⌈n/2⌉ / 2^106 (Bernstein, "The Poly1305-AES message-authentication code", 2005,
/// theorem 3.3), whoever chose them: 2^-84 for a million. An address meets more than one vector only where a round is
/// replayed on data that changed; k vectors collide with probability at most k²/2 times that. What is released shows
/// nothing of the one-time key, release keys of different tags being independent (BLAKE2b is a pseudorandom function).
///
/// No memory is allocated after a thread's first call. Throws FailureError where the cryptographic library fails.
[[nodiscard]] NoiseKey release_key(const NoiseKey& client_key, std::string_view run_id, const ReleaseAddress& address,
                                   std::string_view mechanism, double scale, double step,
                                   std::span<const std::int64_t> integers);

}  // namespace starling
