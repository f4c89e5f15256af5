/// A sweep as a job array of SLURM.
#pragma once

#include "sweep_spec.hpp"
#include <string>

namespace starling {

/// The script of an array with a task for each run, at most `parallel` at once (0: no bound).
[[nodiscard]] std::string slurm_script(const Sweep& sweep, const std::string& output, std::size_t parallel);

}  // namespace starling
