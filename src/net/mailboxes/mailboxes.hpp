/// Asynchronous peer-to-peer interface: vectors that clients send each other when no client waits within rounds
/// (docs/methods/decentralized.md, "Graphs that change": Stragglers).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "net/traffic.hpp"
#include "net/world.hpp"

namespace starling {

/// Asynchronous parcels between clients. Nothing is lost, and queues are bounded. To each other rank one message is
/// under way at a time. A message counts as sent only when its receiver has turned to it. Meanwhile further parcels for
/// that rank wait here, one parcel per edge, whatever the receiver's pace. At the receiver, too, one parcel per edge
/// waits until its client takes it.
///
/// A run: while `go_on(t)`: `progress`, `take`, mix, step, `put`. Then `announce_end`; until `all_ended`: continue to
/// mix without steps, or `wait_for_more`. Then `drain`, and `take` the rest. Afterwards nothing is in flight anywhere.
///
/// Ranks that host no client take no part: their calls do nothing. All ranks construct their mailboxes in the same
/// order, one at a time.
class Mailboxes {
 public:
  /// Treatment of an earlier parcel of the same edge that still waits, on either side: the new parcel is added to it
  /// (shares of a mass) or replaces it (running sums).
  enum class Merge { add, replace };

  /// A vector from one client to another. `vector` is valid during the visit only. `round` is the newest sender's
  /// round, from 0, that the vector includes.
  struct Parcel {
    Client from = 0;
    Client to = 0;
    Round round = 0;
    View vector;
  };
  using Visitor = std::function<void(const Parcel&)>;

  /// Mailboxes for vectors of `length` doubles between the clients of `layout`, whose ranks are those of `world`.
  /// Local.
  Mailboxes(World& world, const Layout& layout, std::size_t length, Merge merge);
  /// Does not wait, even if messages are under way.
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  /// First client of this rank, and the number of its clients.
  [[nodiscard]] Client first() const;
  [[nodiscard]] std::size_t count() const;

  /// Starts round t of this rank. Returns false as soon as a signal has asked the run to end; each rank then ends in a
  /// round of its own. Throws PeerError when another rank has failed.
  [[nodiscard]] bool go_on(Round t);

  /// Sends column `column` of `block` as a parcel from a client of this rank in its round `round`. Between clients of
  /// one rank the parcel arrives at once; otherwise it leaves in a later `progress`. Throws FailureError after `drain`.
  void put(Client from, Client to, Round round, const Released<Columns>& block, std::size_t column);
  /// Whether the receiver has taken the last message to this client's rank and no parcel waits. A parcel put now leaves
  /// at once.
  [[nodiscard]] bool is_free(Client to) const;
  /// Sends the parcels that can leave and fetches those that have arrived. Never waits.
  void progress();
  /// Visits all parcels that have arrived for a client of this rank, then forgets them. Returns their number. The order
  /// is that of arrival; a merged parcel has the place of its first part.
  std::size_t take(Client to, const Visitor& visit);

  /// Announces that this rank's clients have finished. To be called once.
  void announce_end();
  /// Number of rounds begun by the furthest of the other ranks that have announced their end, as far as this rank
  /// knows; 0 if no other rank has.
  [[nodiscard]] Round rounds_of_the_ended() const;
  /// Whether all ranks have announced their end. Throws PeerError when another rank has failed.
  [[nodiscard]] bool all_ended();
  /// Wait for a rank with nothing to do; the rank sleeps meanwhile. Returns when a parcel has arrived since the last
  /// return, when all ranks have ended, or after `seconds`. Throws PeerError when another rank has failed. Once this
  /// rank has announced its end, throws FailureError when a rank that has not ended is silent beyond the watchdog.
  void wait_for_more(double seconds);
  /// Completes, after `all_ended`, the delivery of everything under way. **Collective** over the ranks that host
  /// clients. Throws as `wait_for_more` does.
  void drain();

  /// Selects, before the first parcel, the senders whose parcels are counted by edge. Parcels of all other clients are
  /// counted together.
  void count_edges_of(const std::vector<Client>& senders);
  /// Traffic per edge whose sender is a client of this rank, ascending by (from, to). The last entry, from −1 to −1,
  /// holds the edges that are counted together. Parcels merged before they left count once.
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  [[nodiscard]] WireTraffic wire_traffic() const;
  /// The traffic so far.
  void persist(Snapshot& snapshot);
  /// Number of parcels that wait here for a message to another rank; at most the number of edges in use to other ranks.
  [[nodiscard]] std::size_t waiting_parcels() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
