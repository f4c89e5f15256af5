/// CPUs and memory that this process may use. Internal to the net module, but for the memory.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>
#include <sys/types.h>

namespace starling {

/// Bytes that can be had before the kernel ends processes: what the host has available, or what a control group of
/// this process, or one around it, has left below its limit, whichever is less; infinite where nothing says. Memory
/// that only caches files counts as left. Files are looked for under `root`: proc/meminfo, proc/self/cgroup,
/// sys/fs/cgroup.
[[nodiscard]] double usable_memory(const std::filesystem::path& root = "/");

/// The least value that `allowed` returns for the folders, under `mount`, of the groups in `membership` (lines of
/// /proc/self/cgroup) and of their enclosing groups. Infinite if there are none. A container may not see its own group;
/// then the outermost folder is its own.
[[nodiscard]] double least_of_groups(std::istream& membership, const std::filesystem::path& mount,
                                     const std::function<double(const std::filesystem::path& group)>& allowed);

/// CPUs that control groups grant: the least quota, in CPUs, of the groups in `membership` (lines of /proc/self/cgroup)
/// and of their enclosing groups. The files of the groups are under `mount`. Infinite if there is no quota.
[[nodiscard]] double cpu_quota(std::istream& membership, const std::filesystem::path& mount);

/// The nearest process, from this one upwards, that starts ranks (mpirun, srun and the like), or 0 if there is none to
/// be seen: shells and scripts may stand between. `processes` is /proc.
[[nodiscard]] pid_t launcher_of(pid_t process, const std::filesystem::path& processes);

/// Whether the nearest such process is SLURM's, which `srun` starts, and not `mpirun` within a job.
[[nodiscard]] bool started_by_slurm(pid_t process, const std::filesystem::path& processes);

/// CPUs of this process's affinity and of its launcher's, which has not bound itself to a part of them; those that are
/// online where no launcher is to be seen, since a rank may be bound to one of many. Within the quota, rounded up. At
/// least 1.
[[nodiscard]] int usable_cpus();

}  // namespace starling
