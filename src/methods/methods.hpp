/// The table of learning methods: a command each, defined in the folder of its name.
#pragma once

#include <vector>

#include "console/command.hpp"

namespace starling {

[[nodiscard]] Command omd_command();
[[nodiscard]] Command renewable_command();
[[nodiscard]] Command infer_command();
[[nodiscard]] Command vertical_command();
[[nodiscard]] Command fedavg_command();

/// All rows, in the order of --help. To add a method, declare its row above and list it here.
[[nodiscard]] inline std::vector<Command> learning_commands() {
  return {omd_command(), renewable_command(), infer_command(), vertical_command(), fedavg_command()};
}

}  // namespace starling
