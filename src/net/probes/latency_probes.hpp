/// Latency probes and clock comparison for `starling doctor`, before a run.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "net/world.hpp"

namespace starling {

/// The thread level that MPI granted: single, funneled, serialized or multiple. Needs a World.
[[nodiscard]] std::string thread_level();

/// The name that MPI gives the host of this rank. Needs a World.
[[nodiscard]] std::string host_name();

/// Whether waiting ranks yield their CPU, by Open MPI's own variable; none if the library has no such variable. Needs a
/// World.
[[nodiscard]] std::optional<bool> yields_when_idle();

/// Difference between a rank's clock (calendar time) and rank 0's clock, in seconds; positive if the rank is ahead.
struct ClockSkew {
  double seconds = 0;
  double uncertainty = 0;  ///< half the shortest round trip of the comparison (Cristian 1989)
};

/// **Collective.** Clock skews of all ranks, in rank order, the same on all ranks; zero for rank 0. Throws FailureError
/// when a rank stays silent beyond the watchdog.
[[nodiscard]] std::vector<ClockSkew> measure_clock_skews(World& world);

/// The links of this rank's clients in a round (or in one phase of several equal rounds), as Neighbours::plan takes
/// them; empty for a rank without clients.
using OwnLinks = std::function<std::vector<Links>(Round)>;

/// The messages that one rank sends to another in an exchange.
struct Route {
  int from = 0;
  int to = 0;
  std::size_t vectors = 0;        ///< vectors of one message, in the round that has most of them
  std::optional<double> seconds;  ///< time from one rank to the other; none if the route was not probed
};

/// Largest number of probed routes. Of more routes an evenly spaced subset is probed.
inline constexpr std::size_t most_probed_routes = 2'000;

/// Limits on the time of route probes.
struct ProbeBudget {
  int pings = 100;      ///< round trips of a route, at most
  double seconds = 60;  ///< for all routes; no further route is begun afterwards
  /// Called with (routes done, routes chosen) before each route; may be empty.
  std::function<void(std::size_t, std::size_t)> progress = {};
};

/// **Collective.** Every route between two ranks that share an edge in one of the first `rounds` rounds. Ascending by
/// (from, to), the same on all ranks. A route's time is half a round trip of a message of its size (vectors × `length`
/// doubles): the median of the round trips that the budget allows, a quarter of a second of them at most, one at least.
/// No other message is under way meanwhile. At least one route is probed; the probed routes are evenly spaced. Throws
/// UsageError when a message would have more numbers than MPI counts, and FailureError naming both ranks when one stays
/// silent beyond the watchdog.
[[nodiscard]] std::vector<Route> probe_routes(World& world, const Layout& layout, const OwnLinks& links, Round rounds,
                                              std::size_t length, const ProbeBudget& budget);

/// **Collective.** Latency of a message of one number from one rank to another, in seconds: half a round trip, the
/// median of many, with no other message under way. The same on all ranks. Throws FailureError when one of them stays
/// silent beyond the watchdog.
[[nodiscard]] double probe_message(World& world, int from, int to);

/// **Collective.** Duration of an exchange of vectors of `length` doubles through Neighbours, in seconds, until all
/// vectors of other ranks have been read. For each rank with clients the median over some rounds; none for other ranks.
/// In rank order, the same on all ranks. The graph is taken to repeat after `rounds` rounds. Plays the rounds of about
/// one second, 5 to 1,000.
[[nodiscard]] std::vector<std::optional<double>> probe_exchange(World& world, const Layout& layout,
                                                                const OwnLinks& links, Round rounds,
                                                                std::size_t length);

}  // namespace starling
