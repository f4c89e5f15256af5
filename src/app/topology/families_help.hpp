/// Help on the families of graphs.
#pragma once

#include <string>

namespace starling {

/// Text of --help on the families that draw a new graph in every round.
[[nodiscard]] std::string endless_families_help();

}  // namespace starling
