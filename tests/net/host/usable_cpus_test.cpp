/// How many CPUs a job has: what control groups grant, in both versions of their files.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "net/host/host_limits.hpp"
#include "support/testing.hpp"

namespace starling::usable_cpus_test {

class ControlGroups : public testing::Test {
 protected:
  testing_support::TemporaryFolder folder_;

  [[nodiscard]] double quota(const std::string& membership) const {
    std::istringstream lines(membership);
    return cpu_quota(lines, folder_ / "");
  }
};

TEST_F(ControlGroups, GrantTheirQuotaInCpus) {
  folder_.write("job/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota("0::/job\n"), 2.5);
}

TEST_F(ControlGroups, GrantNoMoreThanThoseAroundThem) {
  folder_.write("user/cpu.max", "150000 50000\n");
  folder_.write("user/job/cpu.max", "max 100000\n");
  folder_.write("user/job/step/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota("0::/user/job/step\n"), 3);
  EXPECT_EQ(quota("0::/user/job\n"), 3);
  folder_.write("cpu.max", "100000 100000\n");  // a container's own, which is the outermost that it sees
  EXPECT_EQ(quota("0::/user/job\n"), 1);
  EXPECT_EQ(quota("0::/\n"), 1);
}

TEST_F(ControlGroups, HaveTwoFilesInTheFirstVersion) {
  folder_.write("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  folder_.write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  folder_.write("cpu,cpuacct/free/cpu.cfs_quota_us", "-1\n");
  folder_.write("cpu,cpuacct/free/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("5:memory:/job\n4:cpu,cpuacct:/job\n0::/elsewhere\n"), 4);
  EXPECT_EQ(quota("4:cpu,cpuacct:/free\n"), INFINITY);
}

TEST_F(ControlGroups, GrantEverythingWhereTheySayNothing) {
  for (const char* membership : {"", "0::/nowhere\n", "no line of theirs\n", "0:\n", "1:name=systemd:/job\n"}) {
    EXPECT_EQ(quota(membership), INFINITY) << membership;
  }
}

TEST(Launcher, IsFoundAboveShellsAndScripts) {
  const testing_support::TemporaryFolder folder;
  const std::filesystem::path processes = folder / "";
  const auto process = [&](int number, const std::string& name, int parent) {
    folder.write(fmt::format("{}/stat", number), fmt::format("{} ({}) S {} 7 7 0 -1\n", number, name, parent));
  };
  process(1, "systemd", 0);
  process(10, "bash", 1);
  process(20, "mpirun", 10);
  process(30, "sh", 20);
  process(40, "my (odd) S 1", 30);
  process(50, "not mpirun", 10);
  process(60, "hydra_pmi_proxy", 20);
  process(70, "run.sh", 60);
  process(80, "orphan", 81);
  EXPECT_EQ(launcher_of(20, processes), 20);
  EXPECT_EQ(launcher_of(30, processes), 20);
  EXPECT_EQ(launcher_of(40, processes), 20);
  EXPECT_EQ(launcher_of(70, processes), 60);
  for (const pid_t none : {0, 1, 10, 50, 80}) EXPECT_EQ(launcher_of(none, processes), 0) << none;
  process(90, "slurmstepd", 1);
  process(91, "bash", 90);
  process(92, "mpirun", 91);
  process(93, "starling", 92);
  EXPECT_TRUE(started_by_slurm(91, processes));
  EXPECT_FALSE(started_by_slurm(93, processes));
  EXPECT_FALSE(started_by_slurm(10, processes));
}

/// What `step` returns in a process of its own.
template <class Step>
int in_a_process(Step&& step) {
  const pid_t child = fork();
  if (child == 0) _exit(step());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Binds this process to the last of its CPUs, as launchers do with a rank.
void bind_to_one() {
  cpu_set_t own;
  sched_getaffinity(0, sizeof own, &own);
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &own)) --last;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  sched_setaffinity(0, sizeof one, &one);
}

// mpirun, which is not bound, starts a shell that is, which starts the rank.
TEST(UsableCpus, AreTheLaunchersThoughAShellStandsBetween) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  std::ifstream membership("/proc/self/cgroup");
  const double quota = std::ceil(cpu_quota(membership, "/sys/fs/cgroup"));
  const int found = in_a_process([] {
    prctl(PR_SET_NAME, "mpirun");
    return in_a_process([] {
      prctl(PR_SET_NAME, "sh");
      bind_to_one();
      return in_a_process([] { return usable_cpus(); });
    });
  });
  EXPECT_EQ(found, static_cast<int>(std::min<double>(CPU_COUNT(&own), quota)));
}

// A launcher that may itself use one CPU gives ranks no more.
TEST(UsableCpus, AreFewWhereTheLauncherHasFew) {
  EXPECT_EQ(in_a_process([] {
              prctl(PR_SET_NAME, "orted");
              bind_to_one();
              return in_a_process([] { return in_a_process([] { return usable_cpus(); }); });
            }),
            1);
}

// Ranks in a container of their own do not see who has bound them.
TEST(UsableCpus, AreNotThoseOfABoundRankWhereNoLauncherIsSeen) {
  if (launcher_of(getpid(), "/proc") > 0) GTEST_SKIP() << "runs under a launcher";
  EXPECT_EQ(in_a_process([] {
              bind_to_one();
              return in_a_process([] { return usable_cpus(); });
            }),
            usable_cpus());
}

TEST(UsableCpus, AreNoFewerThanOneAndNoMoreThanThoseOfTheHost) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace starling::usable_cpus_test
