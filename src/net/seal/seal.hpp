// Authenticated encryption of messages between ranks (docs/methods/identities.md, "Sealed messages"). Internal to the
// net module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/links.hpp"
#include "net/seal/seal_terms.hpp"

namespace starling {

/// The stream that a message belongs to. MPI keeps the order of messages of one stream between two ranks.
enum class MessageKind : std::uint8_t { notice, agreement, report, milestone, neighbours, mailbox, up, down, peers };
inline constexpr std::size_t message_kinds = 9;

/// Seals messages to other ranks, and opens theirs: AES-256-GCM, or ChaCha20-Poly1305 (RFC 8439). Each direction
/// between two ranks has a key of its own, and each kind counts its messages: the nonce is (kind, number). So the k-th
/// message of a kind opens as the k-th that comes, and as no other. The tag covers sender, receiver, kind, round and
/// start too.
class Seal {
 public:
  static constexpr std::size_t tag_size = 16;

  /// `rank` is this rank. Throws FailureError if the cryptographic library fails.
  Seal(SealTerms terms, int rank);
  ~Seal();
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;

  /// Whether messages between this rank and `peer` are sealed.
  [[nodiscard]] bool seals(int peer) const { return peers_[static_cast<std::size_t>(peer)] != nullptr; }
  [[nodiscard]] bool is_on_this_host(int peer) const;
  /// Whether messages within a host are sealed too.
  [[nodiscard]] bool seals_within_host() const { return terms_.within_hosts; }
  /// Bytes of a message to or from `peer` on its way.
  [[nodiscard]] std::size_t size(int peer, std::size_t plain) const { return plain + (seals(peer) ? tag_size : 0); }

  /// Writes the next message of this kind to `to`; `way` has size(to, plain.size()) bytes. One to a rank whose messages
  /// are not sealed is copied.
  void close(MessageKind kind, int to, Round round, std::span<const std::byte> plain, std::span<std::byte> way);
  /// Reads the next message of this kind from `from`; `plain` has the size of the message before it was sealed. Throws
  /// FailureError that names both ends, with nothing of the message in `plain`, if it is not this message.
  void open(MessageKind kind, int from, Round round, std::span<const std::byte> way, std::span<std::byte> plain);
  /// The same for messages of any length.
  [[nodiscard]] std::vector<std::byte> closed(MessageKind kind, int to, Round round, std::span<const std::byte> plain);
  [[nodiscard]] std::vector<std::byte> opened(MessageKind kind, int from, Round round, std::span<const std::byte> way);

  /// Number of messages of a kind that were sealed for a rank, and that came from one; messages must be sealed.
  [[nodiscard]] std::uint64_t sent(MessageKind kind, int to) const;
  [[nodiscard]] std::uint64_t came(MessageKind kind, int from) const;
  /// Throws FailureError for a message that was sent and does not come.
  [[noreturn]] void refuse_silence(int from) const;

 private:
  struct Peer;
  [[noreturn]] void refuse(int from) const;

  SealTerms terms_;
  int rank_;
  std::vector<std::unique_ptr<Peer>> peers_;  ///< by rank; null: messages are not sealed
};

}  // namespace starling
