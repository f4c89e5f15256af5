/// The files that `starling init` writes: a configuration, a topology and a batch script.
#pragma once

#include <optional>
#include <string>

#include "core/links.hpp"
#include "data_look.hpp"

namespace starling {

/// Where a run is started.
enum class LaunchPlace { here, slurm };

/// A run as its owner has described it.
struct PlannedRun {
  std::string source;         ///< as the configuration file shall name it
  bool has_own_files = true;  ///< of each client; else one source is dealt to them
  Client clients = 1;
  std::string person;             ///< column; empty: records stand for themselves
  std::optional<double> epsilon;  ///< of a unit in all; none: nothing is protected
  std::string topology;           ///< file, as the configuration file shall name it; empty with one client
  std::string graph;              ///< in words, for the comment
  std::string reading;            ///< lines of reading options that were given
  DataLook look;
  LaunchPlace place = LaunchPlace::here;
  int ranks = 1;
};

/// δ for a number of units: 1e-5, and less where a tenth of one over their number is less, as a power of ten.
[[nodiscard]] double delta_for(std::int64_t units);

/// The text of run.ini, for `starling omd --config`.
[[nodiscard]] std::string configuration_text(const PlannedRun& run);

/// The text of run.sbatch. `program` is the path of starling, `folder` that of the files, both absolute.
[[nodiscard]] std::string batch_script(const PlannedRun& run, const std::string& program, const std::string& folder);

}  // namespace starling
