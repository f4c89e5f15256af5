#include "starling/files/durable_file.hpp"

#include "support/testing.hpp"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace starling {
namespace {

using testing_support::TemporaryFolder;

/// How a process of its own ends that replaces the file, its power cut where `fault` says.
int signal_of_replacing(const std::string& path, const std::string& content, const char* fault) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("STARLING_FAULT", fault, 1);
    ::_exit(replace_file(path, content) == 0 && replace_file(path, content) == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(DurableFile, HasTheNewContentOrTheOldOneWhereverPowerIsCut) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  EXPECT_EQ(signal_of_replacing(path, "first", "rename:0"), SIGKILL);
  EXPECT_FALSE(read_whole_file(path));
  EXPECT_EQ(read_whole_file(path + ".part"), "first");
  EXPECT_EQ(signal_of_replacing(path, "first", "renamed:0"), SIGKILL);
  EXPECT_EQ(read_whole_file(path), "first");
  EXPECT_EQ(signal_of_replacing(path, "second", "rename:0"), SIGKILL);
  EXPECT_EQ(read_whole_file(path), "first");
  EXPECT_EQ(signal_of_replacing(path, "second", "rename:1"), SIGKILL);
  EXPECT_EQ(read_whole_file(path), "second");
  EXPECT_EQ(signal_of_replacing(path, "third", "rename:2"), 0);
  EXPECT_EQ(read_whole_file(path), "third");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(DurableFile, HasTheModeThatIsAskedFor) {
  const TemporaryFolder folder;
  struct stat status {};
  ASSERT_EQ(replace_file(folder / "own", ""), 0);
  ASSERT_EQ(::stat((folder / "own").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(replace_file(folder / "all", "", 0644), 0);
  ASSERT_EQ(::stat((folder / "all").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST(DurableFile, TellsWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(replace_file(folder / "none/file", "text"), ENOENT);
  EXPECT_FALSE(read_whole_file(folder / "none/file"));
  EXPECT_EQ(errno, ENOENT);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_EQ(replace_file(folder / "folder", "text"), EISDIR);
}

}  // namespace
}  // namespace starling
