/// Cumulative messages for links that lose messages unnoticed.
#pragma once

#include <map>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"

namespace starling {

/// Mass w of a client while its out-neighbours take their shares. A share and what is left afterwards add up to what
/// was there exactly: the share is rounded to `before − after`, which doubles can hold, and no share exceeds what is
/// there. So the shares of a round and the rest sum to w without any rounding, and the rest is never negative.
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

/// The cumulative sums of a client: what it has sent over each of its edges since the start, and what it has accepted
/// of its in-neighbours' sums. A receiver takes the difference to the sum that it accepted last, so the next message
/// makes good whatever was lost.
///
/// A share is a pair (s, w) = (c z, c) of a mass c >= 0 and the sender's model z: a lost message delays both parts or
/// neither, and any mean weighted by such masses is a mean of models that were played, however small the masses are.
///
/// A sum H is an unevaluated sum of two doubles, hi + lo with |lo| <= ulp(hi)/2, so it does not lose small shares while
/// it grows. Adding a share errs by at most 2^-105 |H|, and a difference of two sums by 2^-103 |H| before it is rounded
/// to a double. After 10^6 rounds with masses of order n the error of all differences over an edge is below 10^6 ·
/// 2^-103 · 10^6 n < 10^-18 n. Beside that, a receiver rounds as it does in mixing without loss: 2^-53 of what it adds.
class RunningSums {
 public:
  /// Numbers in a message with d + 1 = `length` entries per pair (s, w): all hi, then all lo.
  [[nodiscard]] static std::size_t message_length(std::size_t length) { return 2 * length; }

  /// Adds the share (c z, c) to the sum over the edge to `peer` and returns that sum, a message. `arrives` tells
  /// whether this one gets there; it is for the record of what is under way only.
  View send(Client peer, View z, double c, bool arrives);
  /// Mass that is new in a sum from `peer`.
  [[nodiscard]] double new_mass(Client peer, View sum) const;
  /// Writes the pair (s, w) that is new in a sum from `peer` into `news`, and accepts that sum.
  void accept(Client peer, View sum, MutableView news);
  /// Mass in messages that did not arrive and have not been made good by a later one.
  [[nodiscard]] double in_flight() const;
  /// Gives f(peer, sum) the sums that must arrive for nothing to be under way any more.
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
