/// `starling doctor`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command doctor_command();

}  // namespace starling
