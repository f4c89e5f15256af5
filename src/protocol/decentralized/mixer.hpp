/// The interface of mixing, step 4 of a decentralized round (docs/methods/decentralized.md, "One round").
#pragma once

#include <cstddef>
#include <span>

#include "core/boundary.hpp"
#include "core/snapshot.hpp"
#include "graph/schedule.hpp"
#include "protocol/observer.hpp"
#include "protocol/time_shares.hpp"
#include "settings.hpp"

namespace starling {

/// Least mass that is split and that a model is made from. Rounding leaves as much of an average mass of 1 that was
/// given away. A client with less shows its last model until it has more.
constexpr double negligible_mass = 0x1p-44;

/// Doubles in a message: the state, and under push-sum the mass.
[[nodiscard]] inline std::size_t message_length(std::size_t state_size, Mixing mixing) {
  return state_size + (mixing == Mixing::push_sum ? 1 : 0);
}
/// Doubles in a message that may be a running sum or rounded.
[[nodiscard]] std::size_t message_length(std::size_t state_size, const MixingSettings& settings);

/// The state that mixing averages: states and masses of the clients of one rank.
struct Holdings {
  Released<Columns> state;  ///< mirror states z, a column per client
  Vector mass;              ///< w, one per client; stays 1 under plain mixing
  void persist(Snapshot& snapshot) { snapshot.of_clients(state, mass); }
};

/// Mixing of the clients of one rank with their neighbours. In each round call begin_round(), then attendance() and
/// clock() as needed, then mix(); after the last round call finish().
class Mixer {
 public:
  /// Of `count` clients of this rank, from `first` on.
  Mixer(Client first, std::size_t count) : first_(first), count_(count) {}
  virtual ~Mixer() = default;
  [[nodiscard]] Client first() const { return first_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Before the first round, on a graph that never changes: reads the links now, once. False if the links are read
  /// round by round. No communication.
  [[nodiscard]] virtual bool plan_ahead() { return false; }
  /// Starts this rank's round t. False if a signal has asked the run to end before it.
  [[nodiscard]] virtual bool begin_round(Round t) = 0;
  /// Rounds that the fastest client known here has begun, this one included: t + 1 where rounds are in step.
  [[nodiscard]] virtual Round clock() const = 0;
  /// Whether rounds are in step and every client takes part in each, as far as is known beforehand.
  [[nodiscard]] virtual bool has_all_in_step() const { return false; }
  /// Attendance of local client k in the round that has begun.
  [[nodiscard]] virtual Attendance attendance(std::size_t k) const = 0;
  /// Whether local client k has departed for good, and not everybody has.
  [[nodiscard]] virtual bool has_left(std::size_t k) const = 0;
  /// Mixes once the round's steps are taken. Throws FailureError and PeerError; the holdings are of no use then.
  virtual void mix(Holdings& holdings, Stopwatch& watch, TimeShares& shares) = 0;
  /// After this rank's last round: goes on mixing until all ranks have ended, and receives the messages under way.
  virtual void finish(Holdings& holdings) = 0;
  /// Mass of local client k in messages that have not been received, as far as it is known here.
  [[nodiscard]] virtual double in_flight(std::size_t /*k*/) const { return 0; }
  /// Arrivals of the last round, in order; empty where rounds are in step.
  [[nodiscard]] virtual std::span<const Arrival> arrivals() const { return {}; }
  /// Forgets mass under way, when clients begin anew.
  virtual void begin_anew() {}
  /// The state between rounds, traffic included.
  virtual void persist(Snapshot& snapshot) = 0;

 private:
  Client first_;
  std::size_t count_;
};

}  // namespace starling
