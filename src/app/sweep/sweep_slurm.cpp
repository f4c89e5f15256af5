#include "sweep_slurm.hpp"

#include "app/console/shell_words.hpp"
#include "child.hpp"
#include <filesystem>

#include <fmt/format.h>

namespace starling {

std::string slurm_script(const Sweep& sweep, const std::string& output, std::size_t parallel) {
  namespace fs = std::filesystem;
  const std::string folder = fs::absolute(output).lexically_normal().string();
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# {} runs of `starling {}`, a task for each. Submit it again to go on: finished runs are not repeated.\n"
      "#SBATCH --job-name=starling-sweep\n"
      "#SBATCH --array=1-{}{}\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --signal=B:USR1@120\n"
      "#SBATCH --output={}/slurm-%A_%a.log\n"
      "#SBATCH --open-mode=append\n",
      sweep.runs.size(), sweep.command, sweep.runs.size(), parallel == 0 ? "" : fmt::format("%{}", parallel),
      sweep.ranks, folder);
  for (const auto& [key, value] : sweep.slurm) text += fmt::format("#SBATCH --{}={}\n", key, value);
  return text + fmt::format("exec {} --only \"$SLURM_ARRAY_TASK_ID\" --launcher srun\n",
                            quoted({own_program(), "sweep", fs::absolute(sweep.path).lexically_normal().string(),
                                    "--output", folder}));
}

}  // namespace starling
