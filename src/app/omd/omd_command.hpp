/// `starling omd`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command omd_command();

}  // namespace starling
