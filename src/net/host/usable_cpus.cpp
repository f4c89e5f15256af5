#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sched.h>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "core/text/limits.hpp"
#include "net/host/host_limits.hpp"

namespace starling {

namespace {

/// Quota of one group, in CPUs: "200000 100000" in cpu.max (version 2), or two files (version 1). The values "max" and
/// -1 mean no quota.
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

namespace {

/// Whether a program of this name starts ranks on a host. Names are those of the kernel (15 characters at most).
bool starts_ranks(std::string_view name) {
  constexpr std::string_view launchers[] = {"mpirun", "mpiexec",       "orterun",         "prterun",    "orted",
                                            "prted",  "mpiexec.hydra", "hydra_pmi_proxy", "slurmstepd", "srun"};
  return std::find(std::begin(launchers), std::end(launchers), name) != std::end(launchers);
}

/// CPUs on which a process, or this one (0), may run.
cpu_set_t affinity(pid_t process) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(process, sizeof cpus, &cpus) != 0) CPU_ZERO(&cpus);
  return cpus;
}

struct ProcessLine {
  std::string name;
  pid_t parent;
};

/// Name and parent of a process, as /proc has them; none where it has no such process.
std::optional<ProcessLine> line_of(pid_t process, const std::filesystem::path& processes) {
  std::ifstream file(processes / std::to_string(process) / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t begin = line.find('(');  // number (name) state parent …; a name may have brackets and spaces
  const std::size_t end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(end + 1));
  std::string state;
  ProcessLine found{line.substr(begin + 1, end - begin - 1), 0};
  if (!(rest >> state >> found.parent)) return std::nullopt;
  return found;
}

}  // namespace

pid_t launcher_of(pid_t process, const std::filesystem::path& processes) {
  while (process > 1) {
    const std::optional<ProcessLine> line = line_of(process, processes);
    if (!line) return 0;
    if (starts_ranks(line->name)) return process;
    process = line->parent;
  }
  return 0;
}

bool started_by_slurm(pid_t process, const std::filesystem::path& processes) {
  const std::optional<ProcessLine> line = line_of(launcher_of(process, processes), processes);
  return line && (line->name == "slurmstepd" || line->name == "srun");
}

int usable_cpus() {
  int allowed = 0;
  if (const pid_t launcher = launcher_of(getppid(), "/proc"); launcher > 0) {
    cpu_set_t all = affinity(launcher);
    const cpu_set_t own = affinity(0);
    CPU_OR(&all, &all, &own);
    allowed = CPU_COUNT(&all);
  }
  const auto cpus = static_cast<double>(allowed > 0 ? allowed : sysconf(_SC_NPROCESSORS_ONLN));
  std::ifstream membership("/proc/self/cgroup");
  return static_cast<int>(std::max(1.0, std::min(cpus, std::ceil(cpu_quota(membership, "/sys/fs/cgroup")))));
}

}  // namespace starling
