/// Push-sum masses that a schedule gives its clients.
#pragma once

#include "starling/graph/schedule.hpp"

namespace starling {

/// The rounds whose masses are asked for.
struct MassTerms {
  Round rounds = 1;           ///< of the run
  Round steps_per_round = 1;  ///< exchanges per round
  double lazy = 0;            ///< share of its mass that a client keeps before it splits the rest
};

/// Least mean mass of a client at the start of a round, of an average mass of 1 (method 1, "The cap must let debts be
/// repaid"). The masses follow w ← A w from 1. A schedule that repeats is followed until its masses do; then the mean
/// is over one cycle. Otherwise it is over the second half of the rounds. About 10^7 rows are looked at, at most: of
/// longer runs with many clients the first rounds alone count. Lost messages count as arrived. Clients that are gone in
/// one of these rounds are left out. Local: no communication.
[[nodiscard]] double least_mean_mass(const Schedule& schedule, const MassTerms& terms);

}  // namespace starling
