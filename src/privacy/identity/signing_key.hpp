/// Ed25519 key pairs (RFC 8032) by which the owners of clients prove who they are (docs/methods/identities.md).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "core/boundary.hpp"

namespace starling {

/// The public half of a key pair.
using PublicKey = std::array<unsigned char, 32>;
using Signature = std::array<unsigned char, 64>;

/// The secret half of a key pair. The cryptographic library wipes it when it goes.
class SigningKey {
 public:
  /// From the operating system.
  [[nodiscard]] static SigningKey random();
  /// From a file in the form of `pem`. Throws UsageError if it is not there, is no such key, is protected by a pass
  /// phrase, or if group or others have any permission on it; FailureError if it cannot be read.
  [[nodiscard]] static SigningKey read(const std::string& path);
  ~SigningKey();
  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;

  [[nodiscard]] PublicKey public_key() const;
  /// Deterministic. Callers begin `text` with a domain of their own, so that no signature serves two purposes.
  [[nodiscard]] Signature sign(std::string_view text) const;
  /// PKCS #8 in PEM (RFC 8410), as `openssl pkey` reads it.
  [[nodiscard]] Secret<std::string> pem() const;

 private:
  struct State;
  explicit SigningKey(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Whether the owner of the key has signed this text.
[[nodiscard]] bool is_signed(const PublicKey& by, std::string_view text, const Signature& signature);

/// "SHA256:" and 43 characters: what `ssh-keygen -l` shows of the key's line.
[[nodiscard]] std::string fingerprint_of(const PublicKey& key);
/// The same form, of any text.
[[nodiscard]] std::string fingerprint_of_text(std::string_view text);
/// The two words of a key as OpenSSH writes it: "ssh-ed25519" and base64.
[[nodiscard]] std::string words_of(const PublicKey& key);
/// Reads the second of these words. False for anything else.
[[nodiscard]] bool read_public_key(std::string_view base64, PublicKey& key);

}  // namespace starling
