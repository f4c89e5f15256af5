#include "output/checkpoints/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "files/durable_file.hpp"
#include "output/directory/journal.hpp"
#include "support/testing.hpp"

namespace starling::checkpoint_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing_support;

const CheckpointLabel label{"0.1.0 (test)", "a1b2", 1, 4, 2, 3};

std::string text_of(const Secret<std::string>& secret) {
  std::string copy;
  Secret<std::string>(secret).update([&](const std::string& text) { copy = text; });
  return copy;
}

CheckpointFile checkpoint_at(const std::string& path) {
  return read_checkpoint(*read_whole_file(path));
}

std::string example() {
  return text_of(write_checkpoint({label,
                                   7,
                                   Secret<std::string>(std::string("state\0\n\"}", 9)),
                                   {{"journal", 12, sha256("journal")}, {"../a", 0, sha256("")}}}));
}

TEST(Checkpoint, ReadsBackAsItWasWritten) {
  const CheckpointFile read = read_checkpoint(example());
  EXPECT_EQ(read.label, label);
  EXPECT_EQ(read.round, 7);
  EXPECT_EQ(text_of(read.state), std::string("state\0\n\"}", 9));
  EXPECT_THAT(read.files, ElementsAre(Companion{"journal", 12, sha256("journal")}, Companion{"../a", 0, sha256("")}));
}

TEST(Checkpoint, IsRefusedWhateverByteIsChangedOrMissing) {
  const std::string whole = example();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_THROW(static_cast<void>(read_checkpoint(whole.substr(0, i))), DataError) << i;
    for (const int bit : {0, 5}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_THROW(static_cast<void>(read_checkpoint(changed)), DataError) << i;
    }
  }
  EXPECT_THROW(static_cast<void>(read_checkpoint(whole + "x")), DataError);
}

/// Some of the library's conversions are undefined (1e25) or wrap (2^32 + 3 became format 3).
TEST(Checkpoint, IsRefusedWhereANumberIsNoneOrDoesNotFit) {
  const std::string whole = example();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string head = whole.substr(0, whole.find(",\"sha256\":"));
    const std::size_t place = head.find(from);
    if (place == std::string::npos) throw std::logic_error(from);
    head.replace(place, from.size(), to);
    const std::string state = whole.substr(whole.find('\n') + 1);
    return head + ",\"sha256\":\"" + sha256(head + sha256(state)) + "\"}\n" + state;
  };
  EXPECT_EQ(read_checkpoint(with("\"round\":7", "\"round\":8")).round, 8);
  for (const char* number : {"5.5e25", "4294967299", "3.0", "\"3\"", "[3]", "null"}) {
    EXPECT_THROW(static_cast<void>(read_checkpoint(with("\"format\":3", fmt::format("\"format\":{}", number)))),
                 DataError)
        << number;
  }
  for (const char* number : {"1e300", "9223372036854775808", "12.5", "\"12\"", "{}"}) {
    EXPECT_THROW(static_cast<void>(read_checkpoint(with("\"round\":7", fmt::format("\"round\":{}", number)))),
                 DataError)
        << number;
    EXPECT_THROW(static_cast<void>(read_checkpoint(with(",12,", fmt::format(",{},", number)))), DataError) << number;
  }
  EXPECT_THROW(static_cast<void>(read_checkpoint(with(",12,", ","))), DataError);
  EXPECT_THROW(static_cast<void>(read_checkpoint(with("\"journal\"", "7"))), DataError);
}

TEST(CheckpointFolder, FindsWhatIsWholeAndSaysWhatIsNot) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "private");
  const CheckpointFolder checkpoints(folder / "private", label);
  for (const Round round : {100, 20, 3000}) {
    checkpoints.write(round, Secret<std::string>("state " + std::to_string(round)));
  }
  std::ofstream(folder / "private/checkpoint-3000.part") << "half";
  std::ofstream(folder / "private/checkpoint-x") << "another";
  EXPECT_THAT(checkpoints.look().whole, ElementsAre(20, 100, 3000));
  EXPECT_EQ(text_of(checkpoints.read(100).state), "state 100");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "private/checkpoint-100").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);

  std::filesystem::resize_file(folder / "private/checkpoint-3000", 300);
  const auto found = checkpoints.look();
  EXPECT_THAT(found.whole, ElementsAre(20, 100));
  EXPECT_THAT(found.complaints, ElementsAre(AllOf(HasSubstr("private/checkpoint-3000'"), HasSubstr("byte 300"))));

  checkpoints.remove(0, 100);
  EXPECT_THAT(checkpoints.look().whole, ElementsAre(100));
  checkpoints.remove(101, 3001);
  EXPECT_TRUE(checkpoints.look().complaints.empty());
}

TEST(CheckpointFolder, RefusesWhatIsOfAnotherRunRankOrBuild) {
  const TemporaryFolder folder;
  CheckpointFolder(folder / ".", label).write(5, Secret<std::string>("state"));
  const auto complaint = [&](const CheckpointLabel& other) {
    return message_of<DataError>([&] { return CheckpointFolder(folder / ".", other).read(5); });
  };
  CheckpointLabel other = label;
  other.run = "c3d4";
  EXPECT_THAT(complaint(other), HasSubstr("of run a1b2, rank 1 of 4 with clients 2 to 4, after round 5"));
  other = label;
  other.build = "0.2.0";
  EXPECT_THAT(complaint(other), HasSubstr("written by starling 0.1.0 (test), and this is 0.2.0"));
  std::filesystem::rename(folder / "checkpoint-5", folder / "checkpoint-6");
  EXPECT_ERROR(DataError, "it was moved here", CheckpointFolder(folder / ".", label).read(6));
}

TEST(CheckpointFolder, FindsWholeOnlyWhatHasItsFiles) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "private");
  const CheckpointFolder checkpoints(folder / "private", label);
  GrowingDigest journal(folder / "private/journal");
  GrowingDigest table(folder / "table.csv");
  for (const Round round : {10, 20, 30}) {
    std::ofstream(folder / "private/journal", std::ios::app) << "entry " << round << "\n";
    std::ofstream(folder / "table.csv", std::ios::app) << "line " << round << "\n";
    checkpoints.write(round, Secret<std::string>("state"),
                      {checkpoints.describe(journal), checkpoints.describe(table)});
  }
  const std::string lines = *read_whole_file(folder / "table.csv");
  EXPECT_THAT(checkpoint_at(folder / "private/checkpoint-20").files,
              ElementsAre(Companion{"journal", 18, sha256("entry 10\nentry 20\n")},
                          Companion{"../table.csv", 16, sha256("line 10\nline 20\n")}));
  std::ofstream(folder / "table.csv", std::ios::app) << "line 35\n";  // what came later is none of its concern
  EXPECT_THAT(checkpoints.look().whole, ElementsAre(10, 20, 30));

  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string changed = lines;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    folder.write("table.csv", changed);
    const auto found = checkpoints.look();
    const std::vector<Round> before{10, 20, 30};
    const auto whole = static_cast<std::ptrdiff_t>(i / 8);
    EXPECT_EQ(found.whole, std::vector<Round>(before.begin(), before.begin() + whole)) << i;
    ASSERT_EQ(found.complaints.size(), before.size() - found.whole.size());
    EXPECT_THAT(found.complaints[0], AllOf(HasSubstr(fmt::format("private/checkpoint-{}'", before[i / 8])),
                                           HasSubstr("table.csv' was changed"),
                                           HasSubstr(fmt::format("bytes {} to {}", i / 8 * 8, i / 8 * 8 + 8))));
    folder.write("table.csv", lines.substr(0, i));
    EXPECT_EQ(checkpoints.look().whole, found.whole) << i;
    EXPECT_THAT(checkpoints.look().complaints.back(), HasSubstr(fmt::format("table.csv' ends at byte {}, of 24", i)));
  }
  std::filesystem::remove(folder / "table.csv");
  EXPECT_THAT(checkpoints.look().complaints, ::testing::Each(HasSubstr("table.csv' (No such file")));
}

TEST(Journal, GoesBackToWhereItWas) {
  const TemporaryFolder folder;
  const Journal journal(folder / "journal");
  const auto append = [&](const std::string& text) {
    Snapshot entry;
    std::string copy = text;
    entry(copy);
    journal.append(entry);
  };
  append("one");
  append("");
  const std::int64_t size = journal.settle();
  append("three");
  std::vector<std::string> read;
  const auto note = [&](Snapshot& entry) { entry(read.emplace_back()); };
  journal.go_back(size, note);
  EXPECT_THAT(read, ElementsAre("one", ""));
  append("four");
  const std::int64_t longer = journal.settle();
  std::ofstream(folder / "journal", std::ios::app) << "torn";
  read.clear();
  journal.go_back(longer, note);
  EXPECT_THAT(read, ElementsAre("one", "", "four"));
  EXPECT_ERROR(DataError, "it was cut", journal.go_back(longer + 1, note));
}

TEST(Journal, SaysWhereItIsDamaged) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  const Journal journal(path);
  for (std::string text : {"one", "two"}) {
    Snapshot entry;
    entry(text);
    journal.append(entry);
  }
  const auto size = static_cast<std::size_t>(journal.settle());
  const std::string whole = *read_whole_file(path);
  std::string text;
  const auto again = [&](Snapshot& entry) { entry(text); };
  for (std::size_t i = 0; i < size; ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    folder.write("journal", changed);
    EXPECT_ERROR(DataError, fmt::format("journal', byte {}:", i < size / 2 ? 0 : size / 2),
                 journal.go_back(static_cast<std::int64_t>(size), again))
        << i;
    folder.write("journal", whole);
    const auto cut = [&] { journal.go_back(static_cast<std::int64_t>(i), again); };
    if (i == 0 || i == size / 2) {
      cut();
    } else {
      EXPECT_THAT(message_of<DataError>(cut), HasSubstr(fmt::format("byte {}:", i < size / 2 ? 0 : size / 2))) << i;
    }
  }
}

}  // namespace starling::checkpoint_test
