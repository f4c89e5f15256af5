/// Cumulative messages for links that lose messages unnoticed (docs/methods/decentralized.md, "Graphs that change").
#pragma once

#include <map>

#include "core/links.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// The mass w of a client while shares are taken from it. A share is rounded to `before − after`, which a double can
/// hold, and no share exceeds the rest. So the shares of a round and the rest sum to w without rounding, and the rest
/// is never negative.
class MassSplit {
 public:
  explicit MassSplit(double mass) : left_(mass) {}
  /// Takes a share of about `wanted` >= 0, at most all, and returns it.
  [[nodiscard]] double take(double wanted) {
    const double after = left_ - (wanted < left_ ? wanted : left_);
    const double share = left_ - after;  // exact: one of after and share is at least half of what was left
    left_ = after;
    return share;
  }
  [[nodiscard]] double left() const { return left_; }

 private:
  double left_;
};

/// The cumulative sums of a client: the sum of shares sent over each edge since the start, and the last sum accepted
/// from each in-neighbour. A receiver takes the difference to the sum that it accepted last, so the next message
/// replaces all that were lost.
///
/// A share is a pair (s, w) = (c z, c) of a mass c >= 0 and the sender's model z. A lost message delays both parts or
/// neither, so any mean weighted by such masses is a mean of played models, however small the masses are.
///
/// A sum H is an unevaluated sum of two doubles, hi + lo with |lo| <= ulp(hi)/2, so it does not lose small shares while
/// it grows. Adding a share errs by at most 2^-105 |H|, and a difference of two sums by 2^-103 |H| before it is rounded
/// to a double. After 10^6 rounds with masses of order n the error of all differences over an edge is below 10^6 ·
/// 2^-103 · 10^6 n < 10^-18 n. A receiver also rounds as in mixing without loss: 2^-53 of what it adds.
class RunningSums {
 public:
  /// Numbers in a message with d + 1 = `length` entries per pair (s, w): all hi, then all lo.
  [[nodiscard]] static std::size_t message_length(std::size_t length) { return 2 * length; }

  /// Adds the share (c z, c) to the sum over the edge to `peer` and returns the sum, which is the message. `arrives`
  /// tells whether the message arrives; it only serves in_flight().
  View send(Client peer, View z, double c, bool arrives);
  /// Mass that is new in a sum from `peer`.
  [[nodiscard]] double new_mass(Client peer, View sum) const;
  /// Writes the pair (s, w) that is new in a sum from `peer` into `news`, and accepts that sum.
  void accept(Client peer, View sum, MutableView news);
  /// Mass in lost messages that no later message has replaced.
  [[nodiscard]] double in_flight() const;
  /// Calls f(peer, sum) for each sum that must still arrive; afterwards no mass is in flight.
  template <class F>
  void settle(F&& f) {
    for (auto& [peer, sent] : sent_) {
      if (sent.pending) f(peer, View(sent.sum));
      sent.pending = false;
      sent.in_flight = 0;
    }
  }
  void persist(Snapshot& snapshot) { snapshot(sent_, accepted_); }

 private:
  struct Sent {
    Vector sum;
    double in_flight = 0;
    bool pending = false;
    void persist(Snapshot& snapshot) { snapshot(sum, in_flight, pending); }
  };
  std::map<Client, Sent> sent_;
  std::map<Client, Vector> accepted_;
};

}  // namespace starling
