/// `starling report`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command report_command();

}  // namespace starling
