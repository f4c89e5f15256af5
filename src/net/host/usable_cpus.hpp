// CPUs that the ranks of this host may use. Internal to the net module.
#pragma once

#include <filesystem>
#include <istream>
#include <sys/types.h>

namespace starling {

/// CPUs that control groups grant: the least quota, in CPUs, of the groups in `membership` (lines of /proc/self/cgroup)
/// and of their enclosing groups. The files of the groups are under `mount`. Infinite if there is no quota.
[[nodiscard]] double cpu_quota(std::istream& membership, const std::filesystem::path& mount);

/// The nearest process, from this one upwards, that starts ranks (mpirun, srun and the like), or 0 if there is none to
/// be seen: shells and scripts may stand between. `processes` is /proc.
[[nodiscard]] pid_t launcher_of(pid_t process, const std::filesystem::path& processes);

/// CPUs of this process's affinity and of its launcher's, which has not bound itself to a part of them; those that are
/// online where no launcher is to be seen, since a rank may be bound to one of many. Within the quota, rounded up. At
/// least 1.
[[nodiscard]] int usable_cpus();

}  // namespace starling
