/// The members of a run: names, clients and ssh-ed25519 keys of the owners who take part (`--members`), and signatures.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/boundary.hpp"
#include "privacy/client_range.hpp"

namespace starling {

enum class SealedMessages;

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

/// An owner of clients.
struct RunMember {
  std::string name;
  PublicKey key{};
  std::optional<ClientRange> clients;  ///< none: it vouches for ranks without clients alone

  /// "hospital-b (SHA256:…)"
  [[nodiscard]] std::string in_words() const;
  friend bool operator==(const RunMember&, const RunMember&) = default;
};

/// A list of members. Names and keys are unique, and no client has two members.
class Members {
 public:
  /// Reads a list: a line for each member, `[clients=FIRST[-LAST]|none] ssh-ed25519 BASE64 NAME [SHA256:…]`, empty
  /// lines and comments after #. Without `clients=` a member has one client, the next that no line before it has. A
  /// fingerprint must be that of the key. `place` is the name of the file, for messages. Throws UsageError.
  [[nodiscard]] static Members parse(const std::string& text, const std::string& place);

  [[nodiscard]] const std::vector<RunMember>& all() const { return all_; }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  /// Number of the member that has this client; none if none has.
  [[nodiscard]] std::optional<std::size_t> of_client(Client u) const;
  [[nodiscard]] std::optional<std::size_t> of_key(const PublicKey& key) const;
  /// Throws UsageError unless each of the clients 0 … `clients` − 1 has a member, and no member has others.
  void require_clients(Client clients, const std::string& place) const;

  /// The list as `parse` reads it, in one form: the same for equal lists alone.
  [[nodiscard]] std::string text() const;
  /// The fingerprint of `text`, for people to compare.
  [[nodiscard]] std::string fingerprint() const { return fingerprint_of_text(text()); }

 private:
  void add(RunMember member, const std::string& place, std::size_t line);

  std::vector<RunMember> all_;
};

/// The members of a run with --members, who have proved who they are.
struct VerifiedMembers {
  Members members;
  SealedMessages sealed{};  ///< none
};

/// The line of a .pub file, with its line end.
[[nodiscard]] std::string public_line(const PublicKey& key, const std::string& name);

/// Throws UsageError unless `name` is one to 64 letters, digits, and characters of "._-@", the first of them a letter
/// or a digit.
void check_member_name(const std::string& name, const std::string& place);

/// The first difference between two lists, in words, where `other` is called `whose`; empty if they are equal.
[[nodiscard]] std::string difference_of(const Members& own, const Members& other, const std::string& whose);

}  // namespace starling
