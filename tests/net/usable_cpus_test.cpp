/// How many CPUs a job has: what control groups grant, in both versions of their files.
#include "usable_cpus.hpp"

#include "support/testing.hpp"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace starling {
namespace {

class ControlGroups : public testing::Test {
 protected:
  testing_support::TemporaryFolder folder_;

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] double quota(const std::string& membership) const {
    std::istringstream lines(membership);
    return cpu_quota(lines, folder_ / "");
  }
};

TEST_F(ControlGroups, GrantTheirQuotaInCpus) {
  write("job/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota("0::/job\n"), 2.5);
}

TEST_F(ControlGroups, GrantNoMoreThanThoseAroundThem) {
  write("user/cpu.max", "150000 50000\n");
  write("user/job/cpu.max", "max 100000\n");
  write("user/job/step/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota("0::/user/job/step\n"), 3);
  EXPECT_EQ(quota("0::/user/job\n"), 3);
  write("cpu.max", "100000 100000\n");  // a container's own, which is the outermost that it sees
  EXPECT_EQ(quota("0::/user/job\n"), 1);
  EXPECT_EQ(quota("0::/\n"), 1);
}

TEST_F(ControlGroups, HaveTwoFilesInTheFirstVersion) {
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/free/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/free/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("5:memory:/job\n4:cpu,cpuacct:/job\n0::/elsewhere\n"), 4);
  EXPECT_EQ(quota("4:cpu,cpuacct:/free\n"), INFINITY);
}

TEST_F(ControlGroups, GrantEverythingWhereTheySayNothing) {
  for (const char* membership : {"", "0::/nowhere\n", "no line of theirs\n", "0:\n", "1:name=systemd:/job\n"}) {
    EXPECT_EQ(quota(membership), INFINITY) << membership;
  }
}

// Its parent may use them too.
TEST(UsableCpus, AreNoFewerThanOneAndNoMoreThanThoseOfTheHost) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace
}  // namespace starling
