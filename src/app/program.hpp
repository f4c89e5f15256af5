/// The program: its commands and their dispatch.
#pragma once

#include "app/console/command.hpp"
#include <string>
#include <vector>

namespace starling {

/// All commands, in the order of the overview.
[[nodiscard]] const std::vector<Command>& commands();

/// Where a process stands among those of its launch, and what becomes of its errors.
struct Speaker {
  bool is_first = true;  ///< prints texts that are the same on all ranks
  Errors errors = Errors::reported;
};

/// Runs the command that argv, with the program's name first, names among `table`; returns the exit code. Throws the
/// errors of usage, and all others that `speaker` wants thrown.
[[nodiscard]] int dispatch_program(const std::vector<std::string>& argv, const std::vector<Command>& table,
                                   const Speaker& speaker);

/// Runs the command that argv, as main got it, names among `table`. Reports errors on stderr; returns the exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& argv, const std::vector<Command>& table = commands());

}  // namespace starling
