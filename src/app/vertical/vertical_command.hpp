/// `starling vertical`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command vertical_command();

}  // namespace starling
