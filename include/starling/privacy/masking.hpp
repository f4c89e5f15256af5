/// Pairwise masks that cancel in the sum over all clients (Bonawitz et al. 2017, without recovery from drop-outs).
///
/// Clients u < v agree on a secret by X25519 (RFC 7748); the key of the pair is
///
///   BLAKE2b-256, keyed with that secret, of ("starling pair mask 1", run id, u, v, public key of u, public key of v)
///
/// texts and bytes preceded by their length, numbers 64-bit little-endian. The ChaCha20 keystream (RFC 8439) of the
/// pair's key, with the round and the release's index as nonce, is added by u and subtracted by v, modulo 2^64: no two
/// releases of a run share a block. Without one of the two private keys each keystream is indistinguishable from
/// uniform words, and so is, to all who do not know all of a client's pairs, what the client sends; in the sum over all
/// clients each keystream cancels.
///
/// Who relays the public keys learns nothing from them; one who exchanges them for its own can unmask
/// (docs/privacy.md). A pair's masks are the same whenever a release is made again, so a private key serves one
/// process: masking two different vectors at one address would show their difference. Take MaskKey::random() wherever
/// somebody else could make a client repeat a round with other data or another model.
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
  /// From the operating system. Masks leave no trace in a sum, so that it is the same bytes whatever the key.
  [[nodiscard]] static MaskKey random();
  /// Derived from the client's noise key and the run's id: a replayed run makes the same masks.
  [[nodiscard]] static MaskKey derived(const NoiseKey& key, const std::string& run_id);
  ~MaskKey();
  /// The other's private half is wiped.
  MaskKey(MaskKey&& other) noexcept;
  MaskKey& operator=(MaskKey&& other) noexcept;

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
  /// `public_keys` are those of all clients in client order; one alone has no masks. Throws UsageError if `client`'s
  /// own is another than key.public_key(), if two are equal, or one is of low order.
  Masker(const MaskKey& key, Client client, const std::vector<MaskKey::Bytes>& public_keys, const std::string& run_id);
  ~Masker();
  Masker(Masker&&) noexcept;
  Masker& operator=(Masker&&) noexcept;

  /// Adds Σ over all others of ± their common keystream for this round and release, modulo 2^64. At most 2^34 words.
  void mask(Round round, std::uint32_t index, std::span<std::uint64_t> words);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
