/// The learning methods: a command each, defined in the folder of its name.
#pragma once

#include "console/command.hpp"

namespace starling {

[[nodiscard]] Command omd_command();
[[nodiscard]] Command renewable_command();
[[nodiscard]] Command infer_command();
[[nodiscard]] Command vertical_command();
[[nodiscard]] Command fedavg_command();

}  // namespace starling
