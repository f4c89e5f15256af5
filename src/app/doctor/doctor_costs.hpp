/// Measured costs for `starling doctor --predict`. Internal to the app module.
#pragma once

#include "doctor_predict.hpp"

#include "starling/net/agreement.hpp"

namespace starling {

/// **Collective.** Costs of the parts of a round on this machine: those of the slowest rank, the same on all ranks.
/// Each rank plays private rounds of some of the launch's clients for a second or two, all ranks at once. Two ranks of
/// a host send each other messages. Throws UsageError, before any measurement, where check_messages_known does.
[[nodiscard]] Costs measure_costs(World& world, Agreement& agreement, const Launch& launch, const Graph& graph);

}  // namespace starling
