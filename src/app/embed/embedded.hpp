/// Commands of starling inside another process: a Python interpreter, or a program that uses the library.
#pragma once

#include <string>
#include <vector>

#include "starling/net/world.hpp"

namespace starling {

/// Result of a command.
struct EmbeddedResult {
  int code = 0;           ///< exit code of the program
  std::string text;       ///< what the program would print to standard output; on ranks other than 0 a run has none
  std::string directory;  ///< run directory, on every rank; empty for a command that has none
};

/// Whether these words are of a command that runs on all ranks.
[[nodiscard]] bool runs_on_all_ranks(const std::vector<std::string>& words);

/// Runs a command with the words of the program's command line, without the program's name: {"omd", "--source", …}.
/// Its results are on disk, as the program's. Own models and records in memory are those that OfferedModel and
/// OfferedRecords hold. **Collective** for commands that run on all ranks; others run on rank 0 alone.
///
/// Throws what ends the command: UsageError, DataError, BudgetError, FailureError; PeerError on the ranks that have
/// only heard of it. A signal that stops a run is no error, and gives the code stopped_safely. last_directory() holds
/// the run directory, also after an error.
[[nodiscard]] EmbeddedResult run_embedded(const MpiSession& session, const std::vector<std::string>& words);

/// The same for a command that runs on one process, without MPI: on the process that calls it, whatever its rank.
[[nodiscard]] EmbeddedResult run_embedded(const std::vector<std::string>& words);

}  // namespace starling
