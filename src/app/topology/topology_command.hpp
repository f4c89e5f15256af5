/// `starling topology`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command topology_command();

}  // namespace starling
