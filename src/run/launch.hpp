/// The start and the end of all commands under mpirun: ranks, exit codes, one message for one error.
#pragma once

#include <functional>

#include "console/command.hpp"
#include "net/world.hpp"

namespace starling {

/// **Collective.** Runs `job` on every rank of the launch and returns the exit code. When it throws on a rank, the
/// others are told and end with the same code. `errors` says whether one of them prints the message or all throw.
[[nodiscard]] int run_on_all_ranks(const std::function<ExitCode(World&)>& job, Errors errors);

/// Ranks that the launcher has started together with this one; 0 if it says nothing.
[[nodiscard]] int launched_ranks();

/// Whether the launcher gives this process rank 0, so that texts under mpirun appear once.
[[nodiscard]] bool is_first_process();

}  // namespace starling
