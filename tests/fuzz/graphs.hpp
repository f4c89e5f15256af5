/// What must hold of a graph, however it was read.
#pragma once

#include "graph/topology.hpp"

namespace starling::fuzz {

/// Its own text gives it back, and its analysis, where it is small, is in range.
void require_sound(const Graph& graph);

}  // namespace starling::fuzz
