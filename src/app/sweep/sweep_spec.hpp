/// The file that describes a sweep, and the runs that it stands for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "console/command.hpp"

namespace starling {

/// One run of a sweep.
struct SweepRun {
  std::string name;                ///< folder of its results, made of what varies: epsilon-1_seed-2
  std::vector<std::string> words;  ///< options of the command
  std::string configuration;       ///< effective options, as a configuration file
};

struct Sweep {
  std::string path;  ///< of the file
  std::string command;
  int ranks = 1;
  std::vector<std::string> launcher{"mpirun"};
  std::vector<std::string> varied;                         ///< options with several values, in the file's order
  std::vector<std::pair<std::string, std::string>> slurm;  ///< options of sbatch
  std::vector<SweepRun> runs;                              ///< the first option varies slowest
};

/// Reads the file: sections [sweep] (command, ranks, launcher), [options] (options of the command, with values between
/// |, and ranges as 1..5 of whole numbers) and [slurm] (options of sbatch). Every run's options are read as the command
/// reads them. Throws UsageError, with file and line or with the run's name.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<Command>& commands);

/// A ledger (`--ledger`) that several of the runs write; empty if there is none.
[[nodiscard]] std::string shared_ledger(const Sweep& sweep);

}  // namespace starling
