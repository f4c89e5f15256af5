/// What the ranks of a launch and the ways between them are like, measured before a run: for `starling doctor`.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/core/links.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// What MPI has granted: single, funneled, serialized or multiple. Needs a World.
[[nodiscard]] std::string thread_level();

/// The host of this rank, as MPI names it. Needs a World.
[[nodiscard]] std::string host_name();

/// Whether ranks that wait give their CPU away, as Open MPI's own variable says; nothing of a library that has no such
/// variable. Needs a World.
[[nodiscard]] std::optional<bool> yields_when_idle();

/// How far a rank's clock (the date, not the time since it started) is ahead of rank 0's, and how far off this may be:
/// half the shortest of the round trips that it was read over (Cristian 1989). In seconds.
struct ClockSkew {
  double seconds = 0;
  double uncertainty = 0;
};

/// **Collective.** Of each rank, in rank order, the same on all ranks; of rank 0 zero. Throws FailureError when a rank
/// stays silent beyond the watchdog.
[[nodiscard]] std::vector<ClockSkew> sound_clocks(World& world);

/// The links of this rank's clients in a round (or in a phase of several that are alike), as Neighbours::plan takes
/// them; of a rank without clients none.
using OwnLinks = std::function<std::vector<Links>(Round)>;

/// Messages from one rank to another that an exchange has.
struct Way {
  int from = 0;
  int to = 0;
  std::size_t vectors = 0;        ///< in one message, in the round that has most of them
  std::optional<double> seconds;  ///< from one rank to the other; nothing of a way that was not measured
};

/// Ways that are measured at most; of more, so many that lie evenly among all.
inline constexpr std::size_t most_sounded_ways = 2'000;

/// How much time ways get.
struct WaysPace {
  int pings = 100;      ///< round trips over each, at most
  double seconds = 60;  ///< for all of them, after which no other is begun
  /// Told how many of how many ways are done, before each; may be empty.
  std::function<void(std::size_t, std::size_t)> progress = {};
};

/// **Collective.** Every way between two ranks that share an edge in one of the first `rounds` rounds, ascending by
/// (from, to), the same on all ranks. A way's time is half a round trip of a message of its size (vectors × `length`
/// doubles), the median of as many as the pace allows or as fit in its part of the time, a quarter of a second at most,
/// and at least one; nothing else is under way meanwhile. At least one way is measured, and those that are lie evenly
/// among all. Throws UsageError when a message would have more numbers than MPI counts, FailureError naming both ends
/// when one stays silent beyond the watchdog.
[[nodiscard]] std::vector<Way> sound_ways(World& world, const Layout& layout, const OwnLinks& links, Round rounds,
                                          std::size_t length, const WaysPace& pace);

/// **Collective.** Seconds that a message of one number takes from one rank to another, with nothing else under way:
/// half a round trip, the median of many. The same on all ranks. Throws FailureError when one of them stays silent
/// beyond the watchdog.
[[nodiscard]] double sound_message(World& world, int from, int to);

/// **Collective.** Seconds that an exchange of vectors of `length` doubles takes through Neighbours, until those of
/// other ranks have been read: of each rank that hosts clients the median over some rounds, in rank order, the same on
/// all ranks; nothing of the others. The graph repeats after `rounds` rounds or is to be taken for such a one. As many
/// rounds are played as take about a second, 5 to 1,000.
[[nodiscard]] std::vector<std::optional<double>> sound_exchange(World& world, const Layout& layout,
                                                                const OwnLinks& links, Round rounds,
                                                                std::size_t length);

}  // namespace starling
