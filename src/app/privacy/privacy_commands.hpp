/// The commands below `starling privacy`.
#pragma once

#include "app/console/command.hpp"

namespace starling {

[[nodiscard]] Command privacy_spend_command();
[[nodiscard]] Command privacy_calibrate_command();
[[nodiscard]] Command privacy_audit_command();
[[nodiscard]] Command privacy_ledger_command();

}  // namespace starling
