/// `starling data`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command data_command();

}  // namespace starling
