/// The commands below `starling topology`, and their shared functions.
#pragma once

#include "app/console/command.hpp"
#include <string>

namespace starling {

[[nodiscard]] Command topology_check_command();
[[nodiscard]] Command topology_make_command();
[[nodiscard]] Command topology_draw_command();

/// Text of --help on the families that draw a new graph in every round.
[[nodiscard]] std::string endless_families_help();

}  // namespace starling
