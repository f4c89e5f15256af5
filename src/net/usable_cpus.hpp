// CPUs that ranks of this host may use. Internal to the net room.
#pragma once

#include <filesystem>
#include <istream>

namespace starling {

/// CPUs that control groups grant: the least quota of the groups in `membership` (lines of /proc/self/cgroup) and of
/// those around them, whose files are under `mount`, in CPUs; infinite where there is none.
[[nodiscard]] double cpu_quota(std::istream& membership, const std::filesystem::path& mount);

/// CPUs of this process's affinity and of its parent's, which the launcher has not bound to a part of them; within the
/// quota, rounded up. At least 1.
[[nodiscard]] int usable_cpus();

}  // namespace starling
