/// How much memory a job may still take: what the host has available and what control groups leave, in both versions
/// of their files.
#include <cmath>

#include "net/host/host_limits.hpp"
#include "support/testing.hpp"

namespace starling::usable_memory_test {

class UsableMemory : public testing::Test {
 protected:
  testing_support::TemporaryFolder folder_;

  void write_group(const std::string& group, const std::string& most, const std::string& current,
                   const std::string& stat = "") const {
    folder_.write("sys/fs/cgroup/" + group + "/memory.max", most + "\n");
    folder_.write("sys/fs/cgroup/" + group + "/memory.current", current + "\n");
    folder_.write("sys/fs/cgroup/" + group + "/memory.stat", stat);
  }
  [[nodiscard]] double found() const { return usable_memory(folder_ / ""); }
};

TEST_F(UsableMemory, IsWhatTheHostHasAvailable) {
  folder_.write("proc/meminfo",
                "MemTotal:       24683712 kB\nMemFree:         9012 kB\nMemAvailable:   2000 kB\nBuffers: 1 kB\n");
  EXPECT_EQ(found(), 2000.0 * 1024);
}

TEST_F(UsableMemory, IsInfiniteWhereNothingSays) {
  EXPECT_EQ(found(), INFINITY);
  folder_.write("proc/meminfo", "MemTotal:       24683712 kB\n");
  folder_.write("proc/self/cgroup", "0::/job\n");
  write_group("job", "max", "1000");
  EXPECT_EQ(found(), INFINITY);
}

TEST_F(UsableMemory, IsNoMoreThanAGroupHasLeft) {
  folder_.write("proc/meminfo", "MemAvailable:   2000 kB\n");
  folder_.write("proc/self/cgroup", "0::/job\n");
  write_group("job", "1000000", "600000");
  EXPECT_EQ(found(), 400'000);
  write_group("job", "1000000", "1200000");
  EXPECT_EQ(found(), 0) << "above a limit that was lowered";
  write_group("job", "99000000", "600000");
  EXPECT_EQ(found(), 2000.0 * 1024) << "the host has less";
}

TEST_F(UsableMemory, IsNoMoreThanGroupsAroundItHaveLeft) {
  folder_.write("proc/self/cgroup", "0::/user/job/step\n");
  write_group("user", "900000", "800000");
  write_group("user/job", "max", "700000");
  write_group("user/job/step", "800000", "300000");
  EXPECT_EQ(found(), 100'000);
  folder_.write("sys/fs/cgroup/memory.max", "500000\n");  // a container's own, which is the outermost that it sees
  folder_.write("sys/fs/cgroup/memory.current", "499000\n");
  EXPECT_EQ(found(), 1000);
}

TEST_F(UsableMemory, CountsWhatOnlyCachesFiles) {
  folder_.write("proc/self/cgroup", "0::/job\n");
  write_group(
      "job", "1000000", "990000",
      "anon 300000\nfile 690000\nshmem 90000\ninactive_anon 5\nactive_anon 6\ninactive_file 500000\nactive_file "
      "100000\n");
  EXPECT_EQ(found(), 610'000);
}

TEST_F(UsableMemory, HeedsWhereAGroupIsSlowedDown) {
  folder_.write("proc/self/cgroup", "0::/job\n");
  write_group("job", "1000000", "600000");
  folder_.write("sys/fs/cgroup/job/memory.high", "700000\n");
  EXPECT_EQ(found(), 100'000);
}

TEST_F(UsableMemory, HasOtherFilesInTheFirstVersion) {
  folder_.write("proc/meminfo", "MemAvailable:   2000 kB\n");
  folder_.write("proc/self/cgroup", "5:memory:/job/step\n4:cpu,cpuacct:/elsewhere\n0::/\n");
  folder_.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "900000\n");
  folder_.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "700000\n");
  folder_.write("sys/fs/cgroup/memory/job/memory.stat",
                "inactive_file 1\nactive_file 2\ntotal_inactive_file 30000\ntotal_active_file 4000\n");
  folder_.write("sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  folder_.write("sys/fs/cgroup/memory/job/step/memory.usage_in_bytes", "700000\n");
  EXPECT_EQ(found(), 234'000);
}

TEST(UsableMemoryOfThisHost, IsSome) {
  EXPECT_GT(usable_memory(), 0);
}

}  // namespace starling::usable_memory_test
