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
  /// From a file of 64 hexadecimal digits (one line end may follow) or of exactly 32 raw bytes. Throws UsageError,
  /// whose message never quotes the file.
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

/// Key of one release: BLAKE2b keyed with the client's key over (domain, run id, client, round, release index,
/// mechanism, scale, step, clipped integers). The same data give the same noise on replay; different data never meet it
/// again.
///
/// The encoding is injective: texts and the list of integers are preceded by their length, all numbers are 64-bit
/// little-endian, doubles enter by their bits. No memory is allocated after a thread's first call.
[[nodiscard]] NoiseKey release_key(const NoiseKey& client_key, std::string_view run_id, const ReleaseAddress& address,
                                   std::string_view mechanism, double scale, double step,
                                   std::span<const std::int64_t> integers);

}  // namespace starling
