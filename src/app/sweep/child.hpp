/// Programs that a sweep starts.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace starling {

/// Starts a program in a process group of its own, so that a Ctrl-C reaches the sweep alone. Its output is appended to
/// a file. It gets no variables of an MPI launch, and SIGTERM when the sweep dies. Throws FailureError.
[[nodiscard]] pid_t start_child(const std::vector<std::string>& words, const std::string& log);

/// The exit code by the status of waitpid: 128 + the signal's number where one ended the program.
[[nodiscard]] int exit_code_of(int status);

/// Whether a variable of the environment belongs to an MPI launch, by its name. Settings of a user, as OMPI_MCA_btl,
/// do not, unless a launcher has written settings of its own (`launched`).
[[nodiscard]] bool is_of_launch(const std::string& name, bool launched);

/// The path of the program: this one, or in a process that embeds starling the `starling` of the PATH. Throws
/// UsageError if there is none.
[[nodiscard]] std::string own_program();

}  // namespace starling
