#include "usable_cpus.hpp"

#include "control_groups.hpp"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sched.h>
#include <unistd.h>

namespace starling {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of one group: "200000 100000" in cpu.max (version 2), or two files (version 1); "max" and -1 are none.
double quota_in(const std::filesystem::path& group) {
  double quota = 0;
  double period = 0;
  if (std::ifstream both(group / "cpu.max"); both >> quota >> period && period > 0) return quota / period;
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) return quota / period;
  return infinity;
}

}  // namespace

double cpu_quota(std::istream& membership, const std::filesystem::path& mount) {
  return least_of_groups(membership, mount, quota_in);
}

int usable_cpus() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const pid_t process : {pid_t{0}, getppid()}) {
    cpu_set_t some;
    if (sched_getaffinity(process, sizeof some, &some) == 0) CPU_OR(&all, &all, &some);
  }
  const int allowed = CPU_COUNT(&all);
  const auto cpus = static_cast<double>(allowed > 0 ? allowed : sysconf(_SC_NPROCESSORS_ONLN));
  std::ifstream membership("/proc/self/cgroup");
  return static_cast<int>(std::max(1.0, std::min(cpus, std::ceil(cpu_quota(membership, "/sys/fs/cgroup")))));
}

}  // namespace starling
