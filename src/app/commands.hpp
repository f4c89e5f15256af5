/// The commands that are no learning methods, each defined in the folder of its name, and the commands below them.
#pragma once

#include "console/command.hpp"

namespace starling {

[[nodiscard]] Command doctor_command();
[[nodiscard]] Command topology_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command score_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command init_command();

[[nodiscard]] Command topology_check_command();
[[nodiscard]] Command topology_make_command();
[[nodiscard]] Command topology_draw_command();

[[nodiscard]] Command privacy_spend_command();
[[nodiscard]] Command privacy_calibrate_command();
[[nodiscard]] Command privacy_audit_command();
[[nodiscard]] Command privacy_ledger_command();

[[nodiscard]] Command keys_make_command();
[[nodiscard]] Command keys_show_command();
[[nodiscard]] Command keys_consent_command();

[[nodiscard]] Command data_convert_command();
[[nodiscard]] Command data_make_command();
[[nodiscard]] Command data_describe_command();
[[nodiscard]] Command data_profile_command();

}  // namespace starling
