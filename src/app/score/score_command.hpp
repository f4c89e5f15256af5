/// `starling score`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command score_command();

}  // namespace starling
