/// `starling infer`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command infer_command();

}  // namespace starling
