/// A mixing schedule: who sends to whom in which round, as one client needs to know it.
#pragma once

#include <string>

#include "starling/core/links.hpp"

namespace starling {

/// Whether a client takes part in a round.
enum class Attendance {
  present,
  absent,  ///< neither sends nor receives in this round
  gone,    ///< has left for good: it does not step either
};

/// Interface of all topologies, fixed or time-varying. Orientation: an edge is `from to weight`, A[to, from] = weight.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Number of clients, n ≥ 1.
  [[nodiscard]] virtual Client clients() const = 0;
  /// Rounds after which the schedule repeats; 1 for a fixed graph, 0 where it never does.
  [[nodiscard]] virtual Round period() const = 0;
  /// Row of client u in exchange t ≥ 0 (with G gossip steps a round, round ⌊t/G⌋). Local: works out this client's row
  /// alone, without communication.
  [[nodiscard]] virtual Links links(Client u, Round t) const = 0;
  /// Of client u in round t; an absent or gone client has no links.
  [[nodiscard]] virtual Attendance attendance(Client u, Round t) const {
    static_cast<void>(u);
    static_cast<void>(t);
    return Attendance::present;
  }
  /// From here on nobody asks for links or the digest: what they are made from may go. Size, period and attendances
  /// stay.
  virtual void forget_links() {}
  /// SHA-256 of what it means: equal for schedules whose links and attendances are the same for all clients and rounds
  /// by construction.
  [[nodiscard]] virtual std::string digest() const = 0;
};

}  // namespace starling
