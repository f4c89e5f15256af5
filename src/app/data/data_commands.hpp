/// The commands below `starling data`, and their shared functions.
#pragma once

#include "app/console/command.hpp"
#include <functional>

namespace starling {

[[nodiscard]] Command data_convert_command();
[[nodiscard]] Command data_make_command();
[[nodiscard]] Command data_describe_command();
[[nodiscard]] Command data_profile_command();

/// Adds --progress, --config, --print-config and --help.
void add_last_options(Options& options, ProgressChoice& progress);

/// Runs `job` on the terminal of the owner of the data: signals stop it, and errors show the values of faulty records.
[[nodiscard]] int run_for_owner(const std::function<int()>& job);

}  // namespace starling
