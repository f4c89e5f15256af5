/// The keys of a run on shares: between the dealer and each party, and between each two that send each other words.
///
/// Client 0 is the dealer, clients 1, …, K are the parties. Each two clients agree by X25519 (privacy/mechanism/
/// masking.hpp). From their secret come the seed of what the dealer deals to a party, and the pads of messages: words
/// on their way are hidden from whoever carries them, such as the dealer's host. Pads are ChaCha20 keystreams, for each
/// direction, round and step of a round.
///
/// A client's key pair is made of its noise key for the run, of the run's id and of its data, and every secret depends
/// on the public keys of all. So a run that is resumed, or begun again with the same data, sends the same words; where
/// any party's data have changed, all seeds and pads are others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "privacy/keys/keys.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/mechanism/masking.hpp"
#include "privacy/shares/ring.hpp"

namespace starling {

/// Makes key pairs that depend on data.
class DataKeys : private Release {
 public:
  /// The key pair of a client with these columns and labels, and with records of persons as `shared_rows` has them (all
  /// empty for the dealer).
  [[nodiscard]] static MaskKey of(const NoiseKey& key, const std::string& run_id, const Secret<Vector>& rows,
                                  const Secret<Vector>& labels, std::span<const std::size_t> records_of_person = {});
};

class ShareKeys : private Release {
 public:
  /// `own` are the key pairs of this rank's clients first, first + 1, …; `public_keys` those of all clients. Throws
  /// UsageError if a public key is of low order, DataError if one of this rank's is another than its own.
  ShareKeys(const std::vector<MaskKey>& own, Client first, const std::vector<MaskKey::Bytes>& public_keys);

  /// The key of what is dealt to a party: for the party's rank and the dealer's.
  [[nodiscard]] const NoiseKey& dealing(Client party) const;
  /// Words for a message from a client of this rank, under the pad of this round and step.
  [[nodiscard]] Masked hide(const Masked& words, Client from, Client to, Round t, std::uint32_t step) const;
  /// Takes the pad off words that came for a client of this rank.
  void show(std::vector<Word>& words, Client from, Client to, Round t, std::uint32_t step) const;

 private:
  [[nodiscard]] std::vector<Word> pad(std::size_t count, Client own, Client from, Client to, Round t,
                                      std::uint32_t step) const;

  Client first_;
  std::vector<NoiseKey> dealing_;             ///< of parties 1, …, K; zeros where this rank has none
  std::vector<std::vector<NoiseKey>> pairs_;  ///< of each own client with each other client; zeros with itself
};

}  // namespace starling
