#include "output/directory/file_gathering.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include "files/text_files.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::file_gathering_test {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr std::size_t at_once = 64;

void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// Bytes of a rank's file, with line ends and zeros among them.
std::string bytes_of(int rank, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(7 * static_cast<std::size_t>(rank) + 3 * i % 251);
  return bytes;
}

/// A folder of rank 0's, whose name all ranks know, and one of each rank.
struct Folders {
  Folders() {
    if (world().rank() == 0) shared.emplace();
    to = agreement.broadcast(declare_public(shared ? *shared / "run" : std::string()));
    from = own / "released";
  }
  ~Folders() { agreement.barrier(); }
  Agreement agreement{world()};
  TemporaryFolder own;
  std::optional<TemporaryFolder> shared;
  std::string to;
  std::string from;
};

TEST(FileGathering, BringsFilesOfEveryLength) {
  Folders folders;
  const int rank = world().rank();
  const std::size_t piece = at_once / static_cast<std::size_t>(world().size());
  const std::vector<std::size_t> lengths{0, 1, piece - 1, piece, piece + 1, 3 * piece, 10 * piece + 5};
  // Each rank has another number of files; rank 0 has none.
  const auto count = [&](int r) { return r == 0 ? 0 : lengths.size() - static_cast<std::size_t>(r - 1); };
  for (std::size_t i = 0; i < count(rank); ++i) {
    write(fmt::format("{}/clients/{}-{}.h5", folders.from, rank, i), bytes_of(rank, lengths[i]));
  }
  if (rank == 0) write(folders.to + "/clients/1-1.h5", "from an earlier stop");
  gather_files(folders.agreement, rank == 0 ? "" : folders.from, {folders.to}, at_once);
  EXPECT_FALSE(fs::exists(folders.from));
  std::size_t found = 0;
  for (int r = 1; r < world().size(); ++r) {
    for (std::size_t i = 0; i < count(r); ++i, ++found) {
      EXPECT_EQ(read_text(fmt::format("{}/clients/{}-{}.h5", folders.to, r, i)), bytes_of(r, lengths[i])) << r << i;
    }
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folders.to + "/clients")) files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, std::max<std::size_t>(found, 1)) << "no parts are left";
}

TEST(FileGathering, IsNothingWhereNobodyHasFiles) {
  Folders folders;
  gather_files(folders.agreement, "", {folders.to}, at_once);
  gather_files(folders.agreement, folders.from, {folders.to}, at_once);
  EXPECT_FALSE(fs::exists(folders.to));
}

// On every rank, although rank 0 alone writes; the files stay where they are.
TEST(FileGathering, KeepsFilesThatCannotBeWritten) {
  Folders folders;
  write(folders.from + "/clients/0.h5", "released");
  if (world().rank() == 0) write(folders.to, "a file");
  folders.agreement.barrier();
  EXPECT_NE(message_of<Error>([&] { gather_files(folders.agreement, folders.from, {folders.to}, at_once); }), "");
  EXPECT_EQ(read_text(folders.from + "/clients/0.h5"), "released");
}

}  // namespace starling::file_gathering_test
