/// Mixing schedules: who sends to whom in each round, from the view of one client.
#pragma once

#include <string>

#include "core/links.hpp"

namespace starling {

/// Participation of a client in a round.
enum class Attendance {
  present,
  absent,  ///< neither sends nor receives in this round
  gone,    ///< has left for good, and takes no steps
};

/// Interface of all topologies, fixed or time-varying. An edge is `from to weight`: A[to, from] = weight.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Number of clients, n ≥ 1.
  [[nodiscard]] virtual Client clients() const = 0;
  /// Rounds after which the schedule repeats: 1 for a fixed graph, 0 if it never repeats.
  [[nodiscard]] virtual Round period() const = 0;
  /// Row of client u in exchange t ≥ 0 (with G gossip steps a round, round ⌊t/G⌋). Local: no communication, and no rows
  /// of other clients.
  [[nodiscard]] virtual Links links(Client u, Round t) const = 0;
  /// Participation of client u in round t. An absent or gone client has no links.
  [[nodiscard]] virtual Attendance attendance(Client u, Round t) const {
    static_cast<void>(u);
    static_cast<void>(t);
    return Attendance::present;
  }
  /// Whether a client has not departed by round t.
  [[nodiscard]] bool anyone_there(Round t) const {
    for (Client u = 0; u < clients(); ++u) {
      if (attendance(u, t) != Attendance::gone) return true;
    }
    return false;
  }
  /// Frees the memory behind links and digest, which are not to be called afterwards. Size, period and attendance stay
  /// available.
  virtual void forget_links() {}
  /// SHA-256 of the meaning: equal for schedules with the same links and attendance for all clients and rounds by
  /// construction.
  [[nodiscard]] virtual std::string digest() const = 0;
};

}  // namespace starling
