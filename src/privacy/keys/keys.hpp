/// A client's noise key and the streams of noise made from it (docs/methods/privacy.md, "One release").
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/links.hpp"
#include "privacy/keys/release_path.hpp"

namespace starling {

/// 256 secret bits; wiped when it goes.
class NoiseKey {
 public:
  using Bytes = std::array<unsigned char, 32>;
  explicit NoiseKey(std::span<const unsigned char, 32> bytes) { std::copy(bytes.begin(), bytes.end(), bytes_.begin()); }
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

  /// A commitment for others, to find equal keys: keyed BLAKE2b of the run id, 64 hexadecimal digits.
  [[nodiscard]] std::string commitment(std::string_view run_id) const;
  /// The key for the releases of one run: keyed BLAKE2b of the run id. No other key is needed during the rounds.
  [[nodiscard]] NoiseKey for_run(std::string_view run_id) const;
  /// The key itself as 64 hexadecimal digits, in the form that `read` takes: for the client's private folder alone.
  [[nodiscard]] std::string hex() const;
  [[nodiscard]] std::span<const unsigned char, 32> bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// Which release of a run a noise vector belongs to. No two releases of a run have the same client, round, index and
/// block.
struct ReleaseAddress {
  ReleasePath path;  ///< the call that makes it; noise does not depend on it
  Client client = 0;
  Round round = 0;
  std::uint32_t index = 0;  ///< number of the release within the round
  std::uint32_t block = 0;  ///< of those that a release of many records, charged once, comes in

  /// The same place for a release by another path: the second part of a release is one.
  [[nodiscard]] ReleaseAddress by(ReleasePath other) const { return {other, client, round, index, block}; }
};

/// Makes the keys of releases, a ChaCha20 block (RFC 8439, section 2.3) of the run key for each. The cipher takes as
/// long for sixteen rounds as for two, so they are made together where a key has come for one round and comes for the
/// next. (There is place for eight keys: where a rank has more clients, others come between, and each round is made
/// when it is asked for.) Keys are wiped when others take their place, and all of them when it goes.
class ReleaseKeys {
 public:
  ReleaseKeys();
  ~ReleaseKeys();
  static constexpr std::size_t size = 64;
  /// The stream key, then the one-time key.
  using Block = std::span<const unsigned char, size>;
  /// Valid until the next call. Throws FailureError where the cryptographic library fails.
  [[nodiscard]] Block of(const NoiseKey& run_key, const ReleaseAddress& address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Where a ChaCha20 keystream starts; wiped when it goes.
struct StreamStart {
  /// The whole stream of a key: counter and nonce are zero.
  StreamStart(const NoiseKey& of) : key(of) {}  // NOLINT(google-explicit-constructor): nothing is left out
  ~StreamStart();
  StreamStart(const StreamStart&) = default;
  StreamStart& operator=(const StreamStart&) = default;

  NoiseKey key;
  std::array<unsigned char, 16> counter_and_nonce{};  ///< 32 and 96 bits (RFC 8439), little-endian
};

/// The keystream of one release, a function of the client's key for the run (NoiseKey::for_run) and of (run id, client,
/// round, release index, block, mechanism, scale, step, clipped integers). The same data give the same noise on replay;
/// different data never meet it again. (Where data are none of its integers, as in PaperPerturbation, they must not
/// change.)
///
///   stream key (32 bytes), one-time key (32 bytes) = ChaCha20 block of the run key, whose counter and nonce are
///       (round, 2^32 block + index + 1)
///   tag (16 bytes) = Poly1305 under the one-time key of (client, scale, step, run id, mechanism, integers)
///   noise = ChaCha20 under the stream key, from the counter and nonce on that are the tag without its bit 31
///
/// So RFC 8439 makes the one-time keys of Poly1305 (section 2.6), and messages themselves are encrypted under a nonce
/// that is their tag where a nonce may be used again (RFC 8452). The encoding is injective: texts and integers are
/// preceded by their number, all numbers are 64-bit little-endian, doubles enter by their bits. Bit 31 is left out so
/// that no counter overflows within 2^31 blocks.
///
/// Why Poly1305 suffices, which is no hash that anybody may see: its key belongs to one run key and address alone and
/// is secret, and so are the tags. For two different messages of L bytes, whoever chose them, tags differ by a given
/// number with probability at most 8⌈L/16⌉ / 2^106 (Bernstein, "The Poly1305-AES message-authentication code", 2005,
/// theorem 3.3). Streams of B blocks of 64 bytes meet only if their tags differ by one of 6B numbers: for a million
/// integers with Laplace noise (B = 2^19) with probability 2^-62, for a thousand 2^-82. An address has more than one
/// message only where a round is replayed on data that changed, in the replications of an experiment, or in audits
/// whose clients share a key; k messages meet with probability at most k²/2 times that. What is released shows nothing
/// of the tags, since the cipher's stream shows nothing of its key and nonce.
///
/// Keyed BLAKE2b in place of both (and Poly1305 for the integers alone) took 1.1 µs for a stream's start. This takes
/// 0.3 µs, and 0.16 µs where blocks of several rounds are made together.
///
/// No memory is allocated after the first call. Throws FailureError where the cryptographic library fails.
[[nodiscard]] StreamStart release_stream(ReleaseKeys& keys, const NoiseKey& run_key, std::string_view run_id,
                                         const ReleaseAddress& address, std::string_view mechanism, double scale,
                                         double step, std::span<const std::int64_t> integers);

}  // namespace starling
