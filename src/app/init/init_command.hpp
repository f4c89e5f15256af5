/// `starling init`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command init_command();

}  // namespace starling
