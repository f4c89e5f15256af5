/// Push-sum masses of the clients of a schedule.
#pragma once

#include "graph/schedule.hpp"

namespace starling {

/// The run whose masses are computed.
struct MassTerms {
  Round rounds = 1;           ///< rounds of the run
  Round steps_per_round = 1;  ///< exchanges per round
  double lazy = 0;            ///< share of its mass that a client keeps before it splits the rest
};

/// Least mean mass of a client at the start of a round; the average mass is 1 (docs/methods/decentralized.md). Masses
/// follow w ← A w from 1. For a schedule that repeats, the mean is over one cycle after the masses repeat; otherwise
/// over the second half of the rounds. About 10^7 rows are evaluated at most: for longer runs with many clients only
/// the first rounds count. Lost messages are under way until the next one arrives. Clients that are gone in one of
/// these rounds are left out. Local: no communication.
[[nodiscard]] double least_mean_mass(const Schedule& schedule, const MassTerms& terms);

}  // namespace starling
