/// The asynchronous peer-to-peer door: what clients send each other when nobody waits within rounds (method 1,
/// "Stragglers").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/net/traffic.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// What clients send arrives when it arrives; nothing is lost, and nothing piles up: to each other rank one message is
/// under way at a time, which counts as sent only when its receiver has turned to it. Meanwhile what else is to go
/// there waits here, one parcel per edge, whatever the receiver's pace. So does, at the receiver, what a client has not
/// taken.
///
/// A run: while `go_on(t)`: `progress`, `take`, mix, step, `put`. Then `announce_end`; until `all_ended`: go on mixing
/// without steps, or `wait_for_more`. Then `drain`, and `take` the rest. After it nothing is in flight anywhere.
///
/// Ranks that host no client take part in none of this: their calls do nothing. All ranks construct theirs in the same
/// order, one at a time.
class Mailboxes {
 public:
  /// What a parcel does to an earlier one of its edge that still waits, on either side: it is added to it (shares of a
  /// mass), or takes its place (running sums).
  enum class Merge { add, replace };

  /// `vector` is valid during the visit only. `round` is the sender's, from 0, of the newest that is in it.
  struct Parcel {
    Client from = 0;
    Client to = 0;
    Round round = 0;
    View vector;
  };
  using Visitor = std::function<void(const Parcel&)>;

  /// Vectors of `length` doubles between the clients of `layout`, whose ranks are those of `world`. Local.
  Mailboxes(World& world, const Layout& layout, std::size_t length, Merge merge);
  /// Waits for nobody, whatever is under way.
  ~Mailboxes();
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  /// First client of this rank, and how many it hosts.
  [[nodiscard]] Client first() const;
  [[nodiscard]] std::size_t count() const;

  /// Starts round t of this rank. False as soon as a signal has asked the run to end; each rank then ends in a round of
  /// its own. Throws PeerError when another rank has failed.
  [[nodiscard]] bool go_on(Round t);

  /// A parcel with column `column` of `block`, from a client of this rank in its round `round`. Between clients of one
  /// rank it arrives at once, else it leaves in a later `progress`. Throws FailureError after `drain`.
  void put(Client from, Client to, Round round, const Released<Columns>& block, std::size_t column);
  /// Whether the last message to this client's rank has been taken and none waits: what is put now leaves at once.
  [[nodiscard]] bool is_free(Client to) const;
  /// Sends what can leave and fetches what has come; never waits.
  void progress();
  /// Visits all that has arrived for a client of this rank, in order of arrival (of the first part, where parts were
  /// merged), and forgets it. Returns how many parcels.
  std::size_t take(Client to, const Visitor& visit);

  /// This rank's clients have finished. Once.
  void announce_end();
  /// Rounds that the furthest of the other ranks that have announced their end has begun, as far as it is known here; 0
  /// if none has.
  [[nodiscard]] Round rounds_of_the_ended() const;
  /// Whether all ranks have announced their end. Throws PeerError when another rank has failed.
  [[nodiscard]] bool all_ended();
  /// For a rank with nothing to do: returns when something has arrived since it last returned, when all have ended, or
  /// after `seconds`; sleeps in between. Throws PeerError when another rank has failed, and, once this rank has
  /// announced its end, FailureError when a rank that has not ended is silent beyond the watchdog.
  void wait_for_more(double seconds);
  /// After `all_ended`: everything that is under way arrives. **Collective** over the ranks that host clients. Throws
  /// as `wait_for_more` does.
  void drain();

  /// Before the first parcel: those of these clients are counted by edge, those of all others together.
  void count_edges_of(const std::vector<Client>& senders);
  /// Per edge whose sender lives here, ascending by (from, to); last, from −1 to −1, those that are counted together.
  /// Parcels that were merged before they left count once.
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  [[nodiscard]] WireTraffic wire_traffic() const;
  /// The traffic so far.
  void persist(Snapshot& snapshot);
  /// Parcels that wait here for a message to another rank; never more than there are edges in use to other ranks.
  [[nodiscard]] std::size_t waiting_parcels() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
