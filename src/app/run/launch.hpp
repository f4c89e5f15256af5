/// The start and the end of all commands under mpirun: ranks, exit codes, one message for one error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "starling/net/world.hpp"

namespace starling {

/// **Collective.** Runs `job` on every rank of the launch and returns the exit code. When it throws on a rank, the
/// others are told and end with the same code; one of them prints the message.
[[nodiscard]] int run_on_all_ranks(const std::function<ExitCode(World&)>& job);

/// A command under mpirun: --help prints what `help` returns, --print-config what `configuration` does, on the process
/// that `speaks`; all else is `job`, on all ranks.
[[nodiscard]] int run_command(const std::vector<std::string>& words, bool speaks,
                              const std::function<std::string()>& help,
                              const std::function<std::string()>& configuration,
                              const std::function<ExitCode(World&)>& job);

}  // namespace starling
