#include "files/durable_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/testing.hpp"

namespace {

enum class Cut { never, before, after };

Cut cut = Cut::never;
int renames_left = 0;  ///< before the one at which the power is cut

}  // namespace

/// Takes the place of the C library's in this test.
extern "C" int rename(const char* from, const char* to) noexcept {
  const bool now = cut != Cut::never && renames_left-- == 0;
  if (now && cut == Cut::before) ::raise(SIGKILL);
  const int result = ::renameat(AT_FDCWD, from, AT_FDCWD, to);
  if (now) ::raise(SIGKILL);
  return result;
}

namespace starling::durable_file_test {

using testing_support::TemporaryFolder;

/// How a process of its own ends that replaces the file twice, its power cut at one of the renames.
int signal_of_replacing(const std::string& path, const std::string& content, Cut when, int renames_before) {
  const pid_t child = ::fork();
  if (child == 0) {
    cut = when;
    renames_left = renames_before;
    ::_exit(replace_file(path, content) == 0 && replace_file(path, content) == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(DurableFile, HasTheNewContentOrTheOldOneWhereverPowerIsCut) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  EXPECT_EQ(signal_of_replacing(path, "first", Cut::before, 0), SIGKILL);
  EXPECT_FALSE(read_whole_file(path));
  EXPECT_EQ(read_whole_file(path + ".part"), "first");
  EXPECT_EQ(signal_of_replacing(path, "first", Cut::after, 0), SIGKILL);
  EXPECT_EQ(read_whole_file(path), "first");
  EXPECT_EQ(signal_of_replacing(path, "second", Cut::before, 0), SIGKILL);
  EXPECT_EQ(read_whole_file(path), "first");
  EXPECT_EQ(signal_of_replacing(path, "second", Cut::before, 1), SIGKILL);
  EXPECT_EQ(read_whole_file(path), "second");
  EXPECT_EQ(signal_of_replacing(path, "third", Cut::before, 2), 0);
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

}  // namespace starling::durable_file_test
