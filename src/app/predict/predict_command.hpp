/// `starling predict`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command predict_command();

}  // namespace starling
