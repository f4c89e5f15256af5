/// The program: its commands and their dispatch.
#pragma once

#include <string>
#include <vector>

#include "console/command.hpp"

namespace starling {

/// All commands, in the order of the overview.
[[nodiscard]] const std::vector<Command>& commands();

/// Runs the command that argv, with the program's name first, names among `table`; returns the exit code. `how` is the
/// call but for its words. Throws the errors of usage, and all others that the call wants thrown.
[[nodiscard]] int dispatch_program(const std::vector<std::string>& argv, const std::vector<Command>& table, Call how);

/// Runs the command that argv, as main got it, names among `table`. Reports errors on stderr; returns the exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& argv, const std::vector<Command>& table = commands());

}  // namespace starling
