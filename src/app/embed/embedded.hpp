/// Commands of starling inside another process: a Python interpreter, or a program that uses the library.
#pragma once

#include <string>
#include <vector>

#include "core/check.hpp"
#include "net/host/mpi_session.hpp"
#include "net/world.hpp"

namespace starling {

/// Result of a command.
struct EmbeddedResult {
  int code = 0;           ///< exit code of the program
  std::string directory;  ///< of a run; empty for other commands
  std::string text;       ///< what the program would print to standard output; the same command on other ranks has none
};

/// Runs a command with the words of the program's command line, without the program's name: {"omd", "--source", …}.
/// Its results are on disk, as the program's. Own models and records in memory are those that OfferedModel and
/// OfferedRecords hold. With --progress off nothing is written to standard error, not even notes and warnings.
/// **Collective** for commands that run on all ranks; others run on rank 0 alone.
///
/// Throws what ends the command: UsageError, DataError, BudgetError, FailureError; PeerError on the ranks that have
/// only heard of it. A signal that stops a run is no error, and gives the code stopped_safely.
[[nodiscard]] EmbeddedResult run_embedded(const MpiSession& session, const std::vector<std::string>& words);

/// Whether these words are of a command that runs on all ranks. Others need no MPI, and may run on any process.
[[nodiscard]] bool runs_on_all_ranks(const std::vector<std::string>& words);

/// The same; `speaks` says whether this process prints, or runs what one process runs. `result` has the directory also
/// where an error ends the run.
void run_embedded(bool speaks, const std::vector<std::string>& words, EmbeddedResult& result);

/// Ends a command that the other ranks run by run_embedded, or end likewise, since this rank cannot begin it: they
/// throw PeerError. Throws nothing: the caller does. **Collective.**
void end_embedded(const MpiSession& session, const Error& error);

}  // namespace starling
