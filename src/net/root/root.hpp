/// Interface to the aggregator, for the modes in which rank 0 combines the releases of clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "codec/codec.hpp"
#include "core/boundary.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "net/traffic.hpp"
#include "net/world.hpp"

namespace starling {

/// Sums and messages between all clients and rank 0, the aggregator. Per sum, every client sends rank 0 one message.
/// Rank 0 adds the contributions to zero in client order as they arrive, for every layout. Rank 0 buffers only the next
/// two. Another rank continues to compute while its earlier contributions are under way, up to two contributions or 16
/// MiB, whichever is more. Each `contribution` is requested once per local client, in client order. Its result is used
/// before the next request.
///
/// All ranks take part in rounds, including those without clients. A wait beyond the watchdog (`World::set_watchdog`)
/// fails with an error that names round and peer. Rank 0 waits for a client that sends nothing, the other ranks for a
/// rank 0 that gives no sign of life. Exceptions of a contribution pass through; the caller must announce them to the
/// other ranks (`World::announce`).
class Root {
 public:
  Root(World& world, const Layout& layout);

  /// First client of this rank, and the number of its clients.
  [[nodiscard]] Client first() const { return first_; }
  [[nodiscard]] std::size_t count() const { return up_.size(); }
  [[nodiscard]] Client clients() const { return layout_.clients(); }  ///< on all ranks
  [[nodiscard]] bool aggregates() const { return aggregates_; }       ///< whether this is rank 0

  /// Starts round t. Returns false, on all ranks alike, where a signal has stopped the run after the round before.
  /// Local.
  [[nodiscard]] bool begin_round(Round t);

  /// Sign of life of a rank that takes long to answer, to be called now and then. Handles messages of other ranks, and
  /// tells the waiting ranks that this rank lives. Throws PeerError. Local.
  void still_here();

  /// **Collective.** Sum over all clients of vectors of `length` numbers, on rank 0; empty elsewhere.
  [[nodiscard]] Released<Vector> sum(std::size_t length,
                                     const std::function<const Released<Vector>&(std::size_t k)>& contribution,
                                     const Codec& codec = plain_codec());
  /// **Collective.** The same sum, written to `total`; no allocation once `total` has the length.
  void sum(std::size_t length, const std::function<const Released<Vector>&(std::size_t k)>& contribution,
           Released<Vector>& total, const Codec& codec = plain_codec());
  /// **Collective.** The same sum, of vectors that rank 0 is trusted with.
  [[nodiscard]] Secret<Vector> sum_entrusted(std::size_t length,
                                             const std::function<const Entrusted<Vector>&(std::size_t k)>& contribution,
                                             const Codec& codec = plain_codec());
  /// **Collective.** The same sum, of masked words, modulo 2^64. A share without words stands for a missing share.
  /// Throws FailureError that names the clients whose shares are missing.
  [[nodiscard]] std::vector<std::uint64_t> sum_masked(std::size_t length,
                                                      const std::function<const Masked&(std::size_t k)>& contribution);

  /// **Collective.** Overwrites `value`, which has the same length on all ranks, with rank 0's.
  void broadcast(Released<Vector>& value);
  void broadcast(Released<std::vector<std::byte>>& value);

  /// **Collective.** One message from each client to rank 0, written by `codec`. On rank 0 `messages` holds all
  /// messages, in client order, at the positions of `message_offsets`. Elsewhere `messages` is emptied. `lengths` holds
  /// how many numbers each client sends, the same on all ranks. A client without numbers sends nothing, and its
  /// `contribution` is not requested. `codec` also writes the messages of rank 0's own clients, so that the messages do
  /// not depend on the layout.
  void collect(const std::vector<std::size_t>& lengths,
               const std::function<const Released<Vector>&(std::size_t k)>& contribution, const Codec& codec,
               Released<std::vector<std::byte>>& messages);
  /// **Collective.** One message from rank 0 to each client. Client u receives `lengths[u]` numbers of its own;
  /// `lengths` is the same on all ranks. `take` receives the numbers as `codec` decodes them, once per local client
  /// that gets any, in client order. On rank 0 `content` is requested once per such client, in client order. Its result
  /// is used before the next request, so `content` may return one vector that changes. All ranks wait for rank 0. A
  /// rank whose clients get no numbers waits for an empty message, which counts only as wire traffic. Hence no rank
  /// runs ahead into later rounds.
  void distribute(const std::vector<std::size_t>& lengths,
                  const std::function<const Released<Vector>&(Client u)>& content, const Codec& codec,
                  const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take);

  /// Traffic per edge, ascending by (from, to). Edges lead from each local client to client 0, which stands for the
  /// aggregator and sends itself nothing. On rank 0 edges also lead from client 0 to each other client; a broadcast
  /// counts once for each.
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  /// Traffic from this rank to other ranks.
  [[nodiscard]] WireTraffic wire_traffic() const { return wire_; }
  /// Saves or restores the traffic counts.
  void persist(Snapshot& snapshot) {
    snapshot.of_clients(up_);
    snapshot.of_first_rank(aggregates_, broadcasts_, broadcast_bytes_, down_);
    snapshot(wire_);
  }

 private:
  using Bytes = std::span<const std::byte>;
  /// Function that writes the message of local client k to the buffer and returns its length, at most that of the
  /// buffer.
  using Write = std::function<std::size_t(std::size_t k, std::span<std::byte> buffer)>;
  /// Function that receives the message of client u.
  using Take = std::function<void(Client u, Bytes message)>;
  /// Predicate: whether client u sends a message; the same on all ranks.
  using Sends = std::function<bool(Client u)>;

  static bool always(Client) { return true; }

  /// One message of at most `most` bytes to rank 0 from each client that sends one.
  void pass(std::size_t most, const Write& write, const Take& take, const Sends& sends = always);
  void send_all(std::size_t most, const Write& write, const Sends& sends);
  void take_all(std::size_t most, const Write& write, const Take& take, const Sends& sends);
  void count(std::size_t k, std::size_t bytes);
  void count_down(Client u, int rank, std::size_t bytes);
  /// Overwrites `bytes` with those of rank 0; then the receiving and the sending part of that broadcast.
  void spread(std::span<std::byte> bytes);
  void take_spread(std::span<std::byte> bytes);
  void send_spread(std::span<const std::byte> bytes);
  void check_lengths(const std::vector<std::size_t>& lengths) const;
  /// The sending and the receiving part of `distribute`, for messages of at most `most` bytes.
  void send_down(std::size_t most, const std::vector<std::size_t>& lengths,
                 const std::function<const Released<Vector>&(Client u)>& content, const Codec& codec,
                 const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take);
  void take_down(std::size_t most, const std::vector<std::size_t>& lengths, const Codec& codec,
                 const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take);
  /// Sum over all clients of the vectors that `numbers` gives, on rank 0, into `total`.
  template <class Numbers>
  void add_up(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total);
  /// The same sum on a single rank, of the numbers as they are: without messages.
  template <class Numbers>
  void add_up_here(std::size_t length, const Numbers& numbers, Vector& total);
  template <class Numbers>
  [[gnu::noinline]] void add_up_messages(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total);

  World& world_;
  Layout layout_;
  Client first_;
  bool aggregates_;
  std::vector<EdgeTraffic> up_;  ///< from local clients
  std::int64_t broadcasts_ = 0;
  std::int64_t broadcast_bytes_ = 0;
  std::vector<EdgeTraffic> down_;  ///< on rank 0, to each client: messages for that client alone
  WireTraffic wire_;
};

/// Offset in bytes of each client's message among the messages of `Root::collect` for these lengths, followed by the
/// total size: one more number than there are clients.
[[nodiscard]] std::vector<std::size_t> message_offsets(const std::vector<std::size_t>& lengths, const Codec& codec);

}  // namespace starling
