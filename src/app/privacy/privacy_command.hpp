/// `starling privacy`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command privacy_command();

}  // namespace starling
