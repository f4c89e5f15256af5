/// `starling fedavg`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command fedavg_command();

}  // namespace starling
