/// Pairwise masks that cancel in the sum over all clients (Bonawitz et al. 2017, without recovery from drop-outs).
///
/// Clients u < v agree on a secret by X25519; from it and the run's id they derive a ChaCha20 key, and its keystream
/// for a release is added by u and subtracted by v, modulo 2^64. Who relays the public keys learns nothing from them;
/// one who exchanges them for its own can unmask (docs/privacy.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "starling/privacy/keys.hpp"

namespace starling {

/// A client's X25519 key pair for one run. The private half is wiped when it goes.
class MaskKey {
 public:
  using Bytes = std::array<unsigned char, 32>;
  /// From the operating system.
  [[nodiscard]] static MaskKey random();
  /// Derived from the client's noise key and the run's id: a replayed run makes the same masks.
  [[nodiscard]] static MaskKey derived(const NoiseKey& key, const std::string& run_id);
  ~MaskKey();
  MaskKey(MaskKey&&) noexcept;
  MaskKey& operator=(MaskKey&&) noexcept;

  [[nodiscard]] Bytes public_key() const { return public_; }

 private:
  friend class Masker;
  explicit MaskKey(const Bytes& secret);
  Bytes secret_{};
  Bytes public_{};
};

/// The masks of one client.
class Masker {
 public:
  /// `public_keys` are those of all clients in client order. Throws UsageError if `client`'s own is another than
  /// key.public_key(), if two are equal, or one is of low order.
  Masker(const MaskKey& key, Client client, const std::vector<MaskKey::Bytes>& public_keys, const std::string& run_id);
  ~Masker();
  Masker(Masker&&) noexcept;
  Masker& operator=(Masker&&) noexcept;

  /// Adds Σ over all others of ± their common keystream for this round and release, modulo 2^64.
  void mask(Round round, std::uint32_t index, std::span<std::uint64_t> words);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
