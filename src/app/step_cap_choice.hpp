/// The step cap of a run (`--step-cap`).
#pragma once

#include <optional>
#include <string>

#include "starling/app/options.hpp"
#include "starling/graph/graph.hpp"
#include "starling/graph/masses.hpp"
#include "starling/net/agreement.hpp"
#include "starling/protocol/mixing.hpp"
#include "starling/protocol/omd.hpp"

namespace starling {

/// Whether push-sum over this graph leaves every client a mass of 1: sender and receiver weights both sum to one.
[[nodiscard]] bool keeps_masses_even(const Graph& graph);

/// The least mean mass by which a run's step cap is chosen: 1 where the masses are even or mixing is plain, else that
/// of the public schedule. Rank 0 follows the masses. **Collective.**
[[nodiscard]] double agreed_least_mass(Agreement& agreement, bool is_rank_0, const Schedule& schedule, bool even,
                                       const MixingSettings& mixing, Round rounds);

/// What public inputs say of a step cap: nothing of 1, so that runs which need no other keep their digests.
[[nodiscard]] std::string digest_of(double step_cap);

}  // namespace starling
