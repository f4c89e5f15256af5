/// A key that the ranks of one process share.
#pragma once

#include <string>

#include "privacy/keys/keys.hpp"

namespace starling {

class Agreement;
class Introductions;

/// A random 256-bit key that all ranks of this start of the program hold, and nobody who only listens to their
/// messages. Rank 0 draws it and sends it to each rank under the key that both agree on by X25519 (RFC 7748). Ranks
/// compare digests of private data under it, so that messages hold nothing by which others could confirm a guess of
/// the data. It is written nowhere and is another one at the next start. It does not protect from a rank of the run. Of
/// runs whose members have introduced themselves it comes from their fresh keys, and whatever of it was changed on the
/// way is refused. Of other runs it does not protect from somebody who changes messages: nothing tells a rank who sent
/// a public key.
class RankKey {
 public:
  /// **Collective.**
  explicit RankKey(Agreement& agreement, const Introductions* introductions = nullptr);
  /// Keyed BLAKE2b of `what` and `content`: 64 hexadecimal digits, equal for equal texts alone.
  [[nodiscard]] std::string digest(const std::string& what, const std::string& content) const;
  /// The text of one rank, by default rank 0's, everywhere, encrypted on its way (ChaCha20, a keystream for each text).
  /// **Collective.** Throws FailureError for one that was changed, where members have introduced themselves.
  [[nodiscard]] std::string broadcast(const std::string& text, int from = 0);

 private:
  [[nodiscard]] std::string encrypted(std::string text) const;
  /// Behind a text on its way; empty without introductions.
  [[nodiscard]] std::string tag_of(const std::string& hidden) const;
  Agreement& agreement_;
  bool tags_;
  NoiseKey key_;
  int texts_ = 0;  ///< that have been sent
};

}  // namespace starling
