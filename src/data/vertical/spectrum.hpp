/// The scene of the spectrum source (docs/methods/vertical.md). Other modules call open_vertical.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "core/text/spec.hpp"
#include "data/vertical/trajectories.hpp"
#include "data/vertical/vertical.hpp"

namespace starling {

/// Receivers and seed of a scene.
struct SpectrumAudience {
  std::size_t parties = 1;
  std::uint64_t seed = 1;
};

/// Parameters of the spec.
struct SpectrumPlan {
  enum class Walk {
    random,   ///< each round in a direction drawn anew
    heading,  ///< always on, as a ray of light would go that the sides reflect
  };
  enum class Sum {
    power,    ///< of the transmitters' powers, as they add up in the air
    decibel,  ///< of their decibels: the paper's eq. 15 as it stands
  };
  enum class Level {
    centred,  ///< less the receiver's mean of the round's training slots
    kept,     ///< in dB as received
  };
  std::size_t receivers = 4;
  std::size_t transmitters = 2;
  std::size_t train = 20;
  std::size_t test = 20;
  std::size_t samples = 100;
  double v = 1;  ///< metres a round
  Walk walk = Walk::random;
  Sum sum = Sum::power;
  Level level = Level::centred;
  std::string trajectory = {};  ///< file of paths; empty: receivers walk, and transmitters stand
};

/// Transmitters at fixed places unless a file moves them, evenly on a circle of 150 m about the centre of a square,
/// whose powers are drawn anew for every slot; receivers that walk among them, one place a round, and are reflected by
/// the sides; and a field of shadowing. All is drawn from addresses of receiver and round, so that every rank sees the
/// same world.
///
/// The paper leaves places, sides and field open. They are chosen to give the figures in docs/methods/vertical.md. If
/// receivers started anywhere, all might hear one transmitter alone; nothing could then be learned of the other.
class SpectrumWorld {
 public:
  static constexpr double side = 500;      ///< of the square, in metres
  static constexpr double nearest = 1;     ///< metres; no receiver counts as nearer to a transmitter
  static constexpr double strongest = 10;  ///< dB; mean shadowing is 0 to this
  static constexpr unsigned levels = 4;    ///< powers are 1, 2, …, levels dB

  SpectrumWorld(const SpectrumPlan& plan, std::uint64_t seed);

  [[nodiscard]] const SpectrumPlan& plan() const { return plan_; }
  [[nodiscard]] std::size_t slots() const { return plan_.train + plan_.test; }
  /// Numbers of a record: two coordinates, then the samples.
  [[nodiscard]] std::size_t columns() const { return 2 + plan_.samples; }
  [[nodiscard]] std::vector<std::string> column_names() const;
  [[nodiscard]] const std::vector<Place>& transmitters() const { return transmitters_; }
  /// Mean loss in dB at a place within the square.
  [[nodiscard]] double shadowing(const Place& place) const;

  /// Draws the powers of all slots of round t, from 0: slots × transmitters, slot after slot.
  void draw_powers(Round t, MutableView powers) const;
  /// The records of a receiver that stands at `place` in round t: slots × columns, row after row.
  void draw_records(std::size_t receiver, const Place& place, Round t, View powers, MutableView records) const;
  /// RSS in dB at a place of one slot's powers, without shadowing and noise: 10 log10 Σ_n 10^{(P_n − 40 log10 d_n)/10},
  /// or Σ_n (P_n − 40 log10 d_n), for transmitters as they stand in round t.
  [[nodiscard]] double received(const Place& place, View powers, Round t = 0) const;

 private:
  friend class SpectrumWalk;

  SpectrumPlan plan_;
  std::uint64_t seed_;
  std::vector<Place> transmitters_;
  Trajectories trajectories_;
  Vector nodes_;  // of the field: a square lattice, row after row
};

/// The path of one receiver. Receivers with even numbers begin anywhere in the right half of the square, with the first
/// of two transmitters. The other receivers begin in the left half. Later all receivers may go everywhere.
class SpectrumWalk {
 public:
  SpectrumWalk(const SpectrumWorld& world, std::size_t receiver);
  /// Advances to its place of round t, which is not before the last requested round.
  [[nodiscard]] const Place& at(Round t);

 private:
  void step();

  const SpectrumWorld* world_;
  std::size_t receiver_;
  Round round_ = 0;
  Place place_;
  Place heading_;  // of length 1
};

/// One row: `spectrum`. Its maker throws UsageError for a number of receivers that is not that of the parties.
[[nodiscard]] const Table<SpectrumWorld, const SpectrumAudience&>& spectrum_table();

/// The scene that `synthetic:spectrum…` names. Throws UsageError.
[[nodiscard]] std::unique_ptr<SpectrumWorld> make_spectrum(const std::string& source, const SpectrumAudience& audience);

/// The stream of receivers first … first + count − 1; one round of it is at hand, whatever its number of rounds.
[[nodiscard]] std::unique_ptr<VerticalStream> open_spectrum(std::shared_ptr<const SpectrumWorld> world,
                                                            std::size_t first, std::size_t count, bool targets_known);

}  // namespace starling
