/// Measured costs for `starling doctor --predict`. Internal to the app module.
#pragma once

#include "doctor_predict.hpp"

#include "starling/net/agreement.hpp"

namespace starling {

/// **Collective.** What parts of a round cost here, of the slowest rank, the same on all ranks: each plays private
/// rounds of some of the launch's clients for a second or two, all at once; two ranks of a host send each other
/// messages. Throws UsageError, before all that, where check_messages_known does.
[[nodiscard]] Costs measure_costs(World& world, Agreement& agreement, const Launch& launch, const Graph& graph);

}  // namespace starling
