/// `starling sweep`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command sweep_command();

}  // namespace starling
