/// The aggregator's door, for the modes in which rank 0 combines what clients release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "starling/codec/codec.hpp"
#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/net/traffic.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// Every client sends rank 0 one message per sum. Rank 0 adds them to zero in client order, whatever the layout, as
/// they come. It keeps the next two only; another rank goes on computing while its earlier ones are on their way, up to
/// two contributions or 16 MiB of them. Each `contribution` is asked for once per local client, in client order, and
/// its result is used before the next one is asked for.
///
/// All ranks take part in rounds, those without clients too. What waits here names round and peer when it has waited in
/// vain (`World::set_watchdog`): rank 0 for a client that sends nothing, the others for a rank 0 that gives no sign of
/// life. What a contribution throws goes through; the caller tells the others (`World::announce`).
class Root {
 public:
  Root(World& world, const Layout& layout);

  /// Of this rank's clients: which is the first, and how many.
  [[nodiscard]] Client first() const { return first_; }
  [[nodiscard]] std::size_t count() const { return up_.size(); }
  [[nodiscard]] Client clients() const { return layout_.clients(); }  ///< on all ranks
  [[nodiscard]] bool aggregates() const { return aggregates_; }       ///< whether this is rank 0

  /// False where a signal has stopped the run after the round before: on all ranks alike. Local.
  [[nodiscard]] bool begin_round(Round t);

  /// To be called now and then by who takes long to answer: hears what others have to say, and tells those who wait
  /// that this rank lives. Throws PeerError. Local.
  void still_here();

  /// **Collective.** Σ over all clients of `length` numbers, on rank 0; elsewhere no numbers.
  [[nodiscard]] Released<Vector> sum(std::size_t length,
                                     const std::function<const Released<Vector>&(std::size_t k)>& contribution,
                                     const Codec& codec = plain_codec());
  /// **Collective.** The same into `total`, without allocation once it has the length.
  void sum(std::size_t length, const std::function<const Released<Vector>&(std::size_t k)>& contribution,
           Released<Vector>& total, const Codec& codec = plain_codec());
  /// **Collective.** The same of what rank 0 is trusted with.
  [[nodiscard]] Secret<Vector> sum_entrusted(std::size_t length,
                                             const std::function<const Entrusted<Vector>&(std::size_t k)>& contribution,
                                             const Codec& codec = plain_codec());
  /// **Collective.** The same of masked words, modulo 2^64. Throws FailureError naming the clients if one is missing.
  /// A share without words stands for one that is missing.
  [[nodiscard]] std::vector<std::uint64_t> sum_masked(std::size_t length,
                                                      const std::function<const Masked&(std::size_t k)>& contribution);

  /// **Collective.** Columns of all clients in client order on rank 0 (an empty matrix elsewhere), from each rank's
  /// block.
  [[nodiscard]] Columns gather(const Released<Columns>& block);
  /// **Collective.** Overwrites `value`, which has the same length on all ranks, with rank 0's.
  void broadcast(Released<Vector>& value);
  void broadcast(Released<std::vector<std::byte>>& value);

  /// **Collective.** One message from each client, as `codec` writes it, to rank 0: there `messages` are all of them,
  /// in client order, where `message_offsets` says; elsewhere it is emptied. `lengths` says how many numbers each
  /// client sends, and is the same on all ranks. A client without numbers is not asked for its `contribution` and sends
  /// nothing. Those of rank 0 are written by the codec too, so that the messages do not depend on the layout.
  void collect(const std::vector<std::size_t>& lengths,
               const std::function<const Released<Vector>&(std::size_t k)>& contribution, const Codec& codec,
               Released<std::vector<std::byte>>& messages);
  /// **Collective.** The other way: rank 0 sends each client numbers of its own, lengths[u] of them, the same on all
  /// ranks, and `take` has them as `codec` gives them back, once per local client that gets any, in client order. On
  /// rank 0 `content` is asked for once per such client, in client order, and its result is used before the next one is
  /// asked for; so it may be one vector that changes. All ranks wait for rank 0, those to whose clients it sends
  /// nothing for a message without numbers, which is counted on the wire alone: no rank runs ahead into later rounds.
  void distribute(const std::vector<std::size_t>& lengths,
                  const std::function<const Released<Vector>&(Client u)>& content, const Codec& codec,
                  const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take);

  /// What has passed: from each local client to client 0, which stands for the aggregator and sends itself nothing, and
  /// on rank 0 from there to each other client (a broadcast counts once for each). Ascending by (from, to).
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  /// What this rank has sent to other ranks.
  [[nodiscard]] WireTraffic wire_traffic() const { return wire_; }
  /// What has passed.
  void persist(Snapshot& snapshot) { snapshot(up_, broadcasts_, broadcast_bytes_, down_, wire_); }

 private:
  using Bytes = std::span<const std::byte>;
  /// Writes the message of local client k, at most as long as the buffer, and returns its length.
  using Write = std::function<std::size_t(std::size_t k, std::span<std::byte> buffer)>;
  /// Takes the message of client u.
  using Take = std::function<void(Client u, Bytes message)>;
  /// Whether client u sends one; the same on all ranks.
  using Sends = std::function<bool(Client u)>;

  static bool always(Client) { return true; }

  /// One message of at most `most` bytes to rank 0 from each client that sends one.
  void pass(std::size_t most, const Write& write, const Take& take, const Sends& sends = always);
  void send_all(std::size_t most, const Write& write, const Sends& sends);
  void take_all(std::size_t most, const Write& write, const Take& take, const Sends& sends);
  void count(std::size_t k, std::size_t bytes);
  void count_down(Client u, int rank, std::size_t bytes);
  /// Overwrites `bytes` with rank 0's; the two ends of it.
  void spread(std::span<std::byte> bytes);
  void take_spread(std::span<std::byte> bytes);
  void send_spread(std::span<const std::byte> bytes);
  void check_lengths(const std::vector<std::size_t>& lengths) const;
  /// The two ends of `distribute`, of messages of at most `most` bytes.
  void send_down(std::size_t most, const std::vector<std::size_t>& lengths,
                 const std::function<const Released<Vector>&(Client u)>& content, const Codec& codec,
                 const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take);
  void take_down(std::size_t most, const std::vector<std::size_t>& lengths, const Codec& codec,
                 const std::function<void(std::size_t k, const Released<Vector>& numbers)>& take);
  /// Σ of what `numbers` gives for each client, on rank 0, into `total`.
  template <class Numbers>
  void add_up(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total);
  /// On one rank, of numbers as they are: without messages.
  template <class Numbers>
  void add_up_here(std::size_t length, const Numbers& numbers, Vector& total);
  template <class Numbers>
  [[gnu::noinline]] void add_up_messages(std::size_t length, const Numbers& numbers, const Codec& codec, Vector& total);

  World& world_;
  Layout layout_;
  Client first_;
  bool aggregates_;
  std::vector<EdgeTraffic> up_;  ///< of local clients
  std::int64_t broadcasts_ = 0;
  std::int64_t broadcast_bytes_ = 0;
  std::vector<EdgeTraffic> down_;  ///< on rank 0, to each client: what was for it alone
  WireTraffic wire_;
};

/// Where the message of each client begins among those that `Root::collect` gives for these lengths, in bytes, and at
/// last where the last one ends: one more than there are clients.
[[nodiscard]] std::vector<std::size_t> message_offsets(const std::vector<std::size_t>& lengths, const Codec& codec);

}  // namespace starling
