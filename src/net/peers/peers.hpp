/// Masked words that clients send each other directly, without an aggregator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "core/snapshot.hpp"
#include "net/traffic.hpp"
#include "net/world.hpp"

namespace starling {

/// Words on their way from one client to another.
struct PeerMessage {
  Client from = 0;
  Client to = 0;
  Masked words;
};

/// A message that a client of this rank waits for.
struct ExpectedMessage {
  Client from = 0;
  Client to = 0;
  std::size_t words = 0;
};

/// Direct messages between the clients of a layout. A wait beyond the watchdog (`World::set_watchdog`) fails with an
/// error that names the peer, and the round, or `when` outside of rounds.
class Peers {
 public:
  Peers(World& world, const Layout& layout, std::string when = "")
      : world_(world), layout_(layout), when_(std::move(when)) {}
  virtual ~Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// First client of this rank, and the number of its clients.
  [[nodiscard]] Client first() const { return layout_.first(world_.rank()); }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(layout_.count(world_.rank())); }

  /// Sends messages of this rank's clients, and returns those that its clients expect, in the order of `expected`. Each
  /// message is expected by the rank that it goes to, with its length, in the same exchange; between two clients goes
  /// one message at most. Ranks without messages take no part. Throws FailureError for a message of another length, or
  /// of 2 GiB or more.
  [[nodiscard]] virtual std::vector<std::vector<std::uint64_t>> exchange(const std::vector<PeerMessage>& sent,
                                                                         const std::vector<ExpectedMessage>& expected);

  /// Traffic per edge from a client of this rank, ascending by (from, to).
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  /// Traffic from this rank to other ranks.
  [[nodiscard]] WireTraffic wire_traffic() const { return wire_; }
  /// Saves or restores the traffic counts.
  void persist(Snapshot& snapshot) { snapshot(edges_, wire_); }

 private:
  void count(const PeerMessage& message);
  /// The beginning of an error.
  [[nodiscard]] std::string when() const;

  World& world_;
  Layout layout_;
  std::string when_;
  std::vector<EdgeTraffic> edges_;  ///< ascending
  WireTraffic wire_;
};

}  // namespace starling
