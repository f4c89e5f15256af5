/// Facts and checks of `starling doctor`. One table holds all checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/probes/latency_probes.hpp"

namespace starling {

class Agreement;

/// Facts that one rank gathers about itself.
struct RankFacts {
  std::string host;
  std::string version;    ///< of starling
  std::string build;      ///< SHA-256 of the program
  std::string mpi;        ///< library and version
  std::string threads;    ///< level that MPI has granted
  std::string hdf5;       ///< version
  int launched = 0;       ///< ranks of the job as the launcher says; 0 if it says nothing
  int cpus_of_host = 0;   ///< that are the job's
  std::vector<int> cpus;  ///< that the operating system lets this rank run on, ascending
  std::optional<bool> yields;
  std::optional<std::int64_t> memory;         ///< bytes that the host and its control groups can still give
  std::optional<std::int64_t> shared_memory;  ///< bytes that are free in /dev/shm of the host; none without it
  std::optional<std::int64_t> free_space;     ///< bytes in the directory
  std::string disk_problem;     ///< why an HDF5 file could not be written there and read back; empty if it could
  std::string sharing_problem;  ///< why this rank cannot read rank 0's file there; empty if it can
  std::string entropy_problem;  ///< why the operating system gives no random numbers; empty if it does
};

/// Facts that all ranks gather together.
struct LaunchFacts {
  std::vector<RankFacts> ranks;
  std::string directory;
  std::string graph;  ///< in words
  Client clients = 0;
  int ranks_with_clients = 0;
  std::vector<ClockSkew> clocks;
  std::vector<Route> ways;
  std::vector<std::optional<double>> exchange;  ///< seconds, by rank
};

/// The directory `output`, or the directory in which `output` is to be made.
[[nodiscard]] std::string directory_of(const std::string& output);
/// **Collective.** Facts of every rank, in rank order, the same on all ranks. Each rank tests `directory`, and leaves
/// nothing there.
[[nodiscard]] std::vector<RankFacts> gather_facts(Agreement& agreement, const std::string& directory);

enum class Verdict {
  ok,
  look,  ///< a run works, and this may slow it down or surprise
  bad,
};
/// `ok`, `look`, `bad`.
[[nodiscard]] const char* name_of(Verdict verdict);

struct Finding {
  std::string value;
  Verdict verdict = Verdict::ok;
  std::string advice;  ///< why it is not ok, and what to do; may be empty
};

/// A row of the table; `judge` looks at facts alone and measures nothing.
struct DoctorCheck {
  std::string name;
  std::string help;
  Finding (*judge)(const LaunchFacts&);
};

/// All checks, in the order of printing.
[[nodiscard]] const std::vector<DoctorCheck>& doctor_checks();
/// One line per check, for --help.
[[nodiscard]] std::string doctor_checks_help();

/// Number of ranks that can each have a CPU to themselves, given the CPUs that each rank may run on. The number is the
/// size of a maximum matching, found by augmenting paths.
[[nodiscard]] std::size_t ranks_with_a_cpu(const std::vector<std::vector<int>>& cpus_of_ranks);

}  // namespace starling
