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

  /// Client 0 is a centre and has rank 0 for itself, the `others` share the ranks from 1 on in the same way. On one
  /// rank all are together.
  [[nodiscard]] static Layout with_centre(Client others, int ranks) {
    Layout layout(others + 1, ranks);
    layout.apart_ = ranks > 1 ? 1 : 0;
    return layout;
  }

  [[nodiscard]] Client clients() const { return clients_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank_of(Client u) const {
    if (u < apart_) return 0;
    return apart_ + static_cast<int>(std::int64_t{u - apart_} * (ranks_ - apart_) / (clients_ - apart_));
  }
  /// First client of `rank`; equals first(rank + 1) where the rank hosts none.
  [[nodiscard]] Client first(int rank) const {
    if (rank < apart_) return 0;
    const std::int64_t ranks = ranks_ - apart_;
    return apart_ + static_cast<Client>((std::int64_t{rank - apart_} * (clients_ - apart_) + ranks - 1) / ranks);
  }
  [[nodiscard]] Client count(int rank) const { return first(rank + 1) - first(rank); }

 private:
  Client clients_;
  int ranks_;
  int apart_ = 0;  ///< clients, and ranks, that the blocks begin after
};

}  // namespace starling
