/// Edges of a client in one round, with the weights of the mixing matrix, and the layout of clients on ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
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

/// Knowledge of one client about one round: its own share A[u, u], and its out- and in-edges, ascending by peer,
/// without itself. `in[k].weight` is the share that the *sender* gives to this client.
///
/// If clients sit the round out, only the sender may know how many clients share. The sender then applies `share` to
/// its messages, and the weights of these edges are 1 at both ends: A[to, from] is the sender's `share` times the arc's
/// weight.
struct Links {
  double own = 1;
  std::vector<Arc> out;
  std::vector<Arc> in;
  double share = 1;
  /// Out-edges whose messages are sent in this round and never arrive, unknown to both ends. They are neither in `out`
  /// nor in the receiver's `in`.
  std::vector<Arc> lost = {};
  friend bool operator==(const Links&, const Links&) = default;
};

/// Assignment of clients to ranks: client u is on rank ⌊u·R/N⌋, or in blocks of given lengths. Each rank has one
/// contiguous block.
class Layout {
 public:
  Layout(Client clients, int ranks) : clients_(clients), ranks_(ranks) {}

  /// Layout with a centre: client 0 has rank 0 for itself. The `others` share the ranks from 1 on by the same rule. On
  /// a single rank all clients are together.
  [[nodiscard]] static Layout with_centre(Client others, int ranks) {
    Layout layout(others + 1, ranks);
    layout.centre_ = true;
    layout.apart_ = ranks > 1 ? 1 : 0;
    return layout;
  }
  /// Layout of given blocks: rank r has the clients from `firsts[r]` to before `firsts[r + 1]`. There is an entry more
  /// than ranks; entries ascend from 0, and the last is the number of clients.
  [[nodiscard]] static Layout of_blocks(std::vector<Client> firsts) {
    Layout layout(firsts.back(), static_cast<int>(firsts.size()) - 1);
    layout.firsts_ = std::move(firsts);
    return layout;
  }
  /// The same clients on another number of ranks, in blocks of even lengths.
  [[nodiscard]] Layout on(int ranks) const {
    return centre_ ? with_centre(clients_ - 1, ranks) : Layout(clients_, ranks);
  }

  [[nodiscard]] Client clients() const { return clients_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank_of(Client u) const {
    if (!firsts_.empty()) {
      return static_cast<int>(std::upper_bound(firsts_.begin(), firsts_.end() - 1, u) - firsts_.begin()) - 1;
    }
    if (u < apart_) return 0;
    return apart_ + static_cast<int>(std::int64_t{u - apart_} * (ranks_ - apart_) / (clients_ - apart_));
  }
  /// First client of `rank`; equals first(rank + 1) if the rank has no client.
  [[nodiscard]] Client first(int rank) const {
    if (!firsts_.empty()) return firsts_[static_cast<std::size_t>(rank)];
    if (rank < apart_) return 0;
    const std::int64_t ranks = ranks_ - apart_;
    return apart_ + static_cast<Client>((std::int64_t{rank - apart_} * (clients_ - apart_) + ranks - 1) / ranks);
  }
  /// First clients of the ranks, where blocks were given; empty for blocks of even lengths.
  [[nodiscard]] std::vector<Client> blocks() const {
    return firsts_.empty() ? firsts_ : std::vector<Client>(firsts_.begin(), firsts_.end() - 1);
  }
  [[nodiscard]] Client count(int rank) const { return first(rank + 1) - first(rank); }

 private:
  Client clients_;
  int ranks_;
  bool centre_ = false;
  int apart_ = 0;               ///< number of clients, and of ranks, before the blocks begin
  std::vector<Client> firsts_;  ///< of given blocks: `ranks_` + 1 entries; empty for blocks of even lengths
};

}  // namespace starling
