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
/// A relay of the public keys learns nothing from them. A relay that exchanges them for its own keys can unmask. The
/// fingerprints of the keys that clients received show the exchange to whoever compares them (docs/privacy.md). A
/// pair's masks are the same whenever a release is made again, so a private key serves one process: masking two
/// different vectors at one address would show their difference. Take MaskKey::random() wherever somebody else could
/// make a client repeat a round with other data or another model.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/keys/keys.hpp"

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
  /// A key that only the holders of both private keys can make: BLAKE2b-256, keyed with their X25519 secret, of
  /// `purpose` and both public keys in ascending order. Throws UsageError if the other key is of low order.
  [[nodiscard]] NoiseKey common_key(const Bytes& other, std::string_view purpose) const;

 private:
  friend class Masker;
  explicit MaskKey(const Bytes& secret);
  Bytes secret_{};
  Bytes public_{};
};

/// The fingerprint of a public key, for two people to compare by telephone: the first 96 bits of its SHA-256, as six
/// groups of four hexadecimal digits. Another key with the same fingerprint takes 2^96 trials.
[[nodiscard]] std::string fingerprint(const MaskKey::Bytes& public_key);
/// The fingerprint of a list of public keys: 160 bits in ten groups, since somebody who hands out two lists may search
/// for a pair of lists with the same fingerprint, which takes 2^80 trials. All keys of two lists are the same if their
/// fingerprints are.
[[nodiscard]] std::string fingerprint(const std::vector<MaskKey::Bytes>& public_keys);

/// The relay of public keys: it takes those of this rank's clients and returns those of every rank, as 64 hexadecimal
/// digits each. It may lie.
using KeyRelay = std::function<std::vector<std::string>(const std::string& own)>;
/// The public keys of all clients in client order, as the relay gives them to the owner of `own`. Throws DataError for
/// a text that is no list of keys.
[[nodiscard]] std::vector<MaskKey::Bytes> received_keys(const std::vector<MaskKey>& own, const KeyRelay& relay);
/// The content of private/<rank>/mask-keys or pair-keys: the fingerprint of the list, and a line with the fingerprint
/// and the key of each client. `use` ends "public keys of the …".
[[nodiscard]] std::string list_of_keys(const std::vector<MaskKey::Bytes>& public_keys,
                                       const std::string& use = "masks");

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
