/// Introductions: the signatures by which ranks prove whose clients they host (docs/methods/identities.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "privacy/identity/members.hpp"
#include "privacy/mechanism/masking.hpp"

namespace starling {

/// All that the ranks of a start must agree on before one reads a record, the same on all of them.
struct IntroductionTerms {
  Members members;
  std::string configuration;              ///< the options of the run, which may be any text
  std::vector<Client> firsts;             ///< first client of each rank, then the number of clients
  std::vector<Client> lost;               ///< clients that are gone for good, ascending
  std::vector<MaskKey::Bytes> exchanges;  ///< fresh public keys for exchanges, one of each rank
  std::vector<std::string> hosts;         ///< of each rank: equal texts for ranks of one host, and what its ciphers are

  [[nodiscard]] int ranks() const { return static_cast<int>(exchanges.size()); }
  /// The nonce of this start: SHA-256 of all terms, as 64 hexadecimal digits. Each rank's fresh key is in it, so no
  /// earlier signature serves again.
  [[nodiscard]] std::string session() const;
  /// The members that must vouch for a rank: those of its clients that are not lost, ascending. Empty for a rank
  /// without any: one member, whichever, must then.
  [[nodiscard]] std::vector<std::size_t> vouchers_of(int rank) const;
  /// The clients of a rank, in words.
  [[nodiscard]] std::string who(int rank) const;
};

/// A member and its signature.
struct Vouched {
  std::size_t member = 0;
  Signature signature{};
};

/// What members of a rank sign: a text, for a purpose, at this start.
struct VouchedText {
  std::string session;
  std::string purpose;  ///< "introduction", "mask keys", …
  int rank = 0;
  std::string text;

  [[nodiscard]] Vouched signed_by(const SigningKey& key, std::size_t member) const;
  [[nodiscard]] bool is_signed(const RunMember& member, const Vouched& vouched) const;

 private:
  [[nodiscard]] std::string to_sign(std::size_t member) const;
};

/// Signatures as one message, and the reverse. Throws FailureError for a text that is no such message.
[[nodiscard]] std::string message_of(const std::vector<Vouched>& vouched);
[[nodiscard]] std::vector<Vouched> vouched_in(const std::string& message);

/// Throws FailureError unless `message` has the signature of each member that must vouch for the rank, and no other;
/// the error names the first client or member that fails.
void require_vouched(const IntroductionTerms& terms, const VouchedText& what, const std::string& message);

}  // namespace starling
