/// Models of clients that join a run of `starling omd`.
#pragma once

#include <cstddef>

namespace starling {

class DecentralizedOmd;
class RunContext;
class RunGraph;

/// Gives local clients that join the mean models of their in-neighbours (docs/methods/decentralized.md, "Clients that
/// join"). The state of `omd`, of models of `dimension` numbers, lacks change number `first` of the members and all
/// later ones. Sums are in order of clients, so that they are the same for any layout. **Collective.**
void begin_joined(RunContext& run, const RunGraph& graph, int gossip_steps, DecentralizedOmd& omd,
                  std::size_t dimension, std::size_t first);

}  // namespace starling
