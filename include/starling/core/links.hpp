/// A client's own row of the mixing matrix in one round, and where clients live.
#pragma once

#include <cstdint>
#include <vector>

namespace starling {

using Client = std::int32_t;  ///< number of a client, from 0
using Round = std::int64_t;   ///< number of a round; schedules count from 0, step sizes from 1

/// One end of an edge: the client at the other end, and the edge's weight A[to, from].
struct Arc {
  Client peer = 0;
  double weight = 0;
  friend bool operator==(const Arc&, const Arc&) = default;
};

/// What one client knows of one round: its own share A[u, u] and its out- and in-edges, ascending by peer, without
/// itself. `in[k].weight` is the share that the *sender* gives to this client.
///
/// Where only the sender knows how many share (others sit the round out), it applies `share` to what it sends, and the
/// weights of these edges are 1 at both ends: A[to, from] is the sender's `share` times the arc's weight.
struct Links {
  double own = 1;
  std::vector<Arc> out;
  std::vector<Arc> in;
  double share = 1;
  /// Out-edges whose messages are sent in this round and never arrive, nobody knowing: they are not in `out`, nor in
  /// the receiver's `in`.
  std::vector<Arc> lost = {};
  friend bool operator==(const Links&, const Links&) = default;
};

/// Which rank hosts which clients: client u lives on rank ⌊u·R/N⌋, so that each rank has one block.
class Layout {
 public:
  Layout(Client clients, int ranks) : clients_(clients), ranks_(ranks) {}

  [[nodiscard]] Client clients() const { return clients_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank_of(Client u) const {
    return static_cast<int>(static_cast<std::int64_t>(u) * ranks_ / clients_);
  }
  /// First client of `rank`; equals first(rank + 1) where the rank hosts none.
  [[nodiscard]] Client first(int rank) const {
    return static_cast<Client>((static_cast<std::int64_t>(rank) * clients_ + ranks_ - 1) / ranks_);
  }
  [[nodiscard]] Client count(int rank) const { return first(rank + 1) - first(rank); }

 private:
  Client clients_;
  int ranks_;
};

}  // namespace starling
