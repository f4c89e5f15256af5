/// `starling renewable`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command renewable_command();

}  // namespace starling
