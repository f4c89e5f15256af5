#include "files/text.hpp"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "files/text_files.hpp"
#include "support/testing.hpp"

namespace starling::text_test {

using namespace std::string_literals;
using namespace testing_support;

TEST(Text, SoundLinesHaveNoFault) {
  for (const std::string& line : {""s, "a,b"s, "\ta\v\f"s, "\x01\x7F"s, "Jos\xC3\xA9"s, "\xE2\x82\xAC"s,
                                  "\xF0\x9F\x90\xA6"s, "\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"s}) {
    EXPECT_EQ(text_fault(line), std::nullopt) << line;
  }
}

// Bytes are counted from 1. The remedy is that of the encoding.
TEST(Text, FaultsNameTheByteAndTheRemedy) {
  struct Case {
    std::string line;
    std::string place;
    std::string remedy;
  };
  const std::vector<Case> cases{
      {"Jos\xE9,1", "byte 4 is not UTF-8", "iconv -f LATIN1 -t UTF-8"},
      {"\xE9", "byte 1 is not UTF-8", "iconv -f LATIN1"},
      {"ab\xC3", "byte 3 is not UTF-8", "iconv -f LATIN1"},  // cut off amid a character
      {"\xC3\xA9\xC0\x80", "byte 3 is not UTF-8", "iconv"},  // longer than needed
      {"\xE0\x9F\xBF", "byte 1 is not UTF-8", "iconv"},      // longer than needed
      {"\xED\xA0\x80", "byte 1 is not UTF-8", "iconv"},      // a surrogate
      {"\xF4\x90\x80\x80", "byte 1 is not UTF-8", "iconv"},  // beyond U+10FFFF
      {"\xFF\xFE"s + "a\0,\0"s, "byte 1 is part of UTF-16", "iconv -f UTF-16 -t UTF-8"},
      {"\xFE\xFF\0a"s, "byte 1 is part of UTF-16", "iconv -f UTF-16"},
      {"a\0,\0"s, "byte 2 is part of UTF-16 or of no text", "iconv -f UTF-16"},
      {"1,2\r3,4", "byte 4 is a carriage return", "tr '\\r' '\\n'"},
      {"1,2\r", "byte 4 is a carriage return", "tr '\\r' '\\n'"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(testing::PrintToString(each.line));
    const std::string fault = text_fault(each.line).value_or("none");
    EXPECT_THAT(fault, HasSubstr(each.place));
    EXPECT_THAT(fault, HasSubstr(each.remedy));
  }
}

// A fault is found wherever it stands in a long line: the quick look at whole lines overlooks none.
TEST(Text, EveryPlaceIsLookedAt) {
  for (std::size_t at = 0; at < 100; ++at) {
    for (const char byte : {'\0', '\r', '\xE9'}) {
      std::string line(100, 'x');
      line[at] = byte;
      EXPECT_THAT(text_fault(line).value_or("none"), HasSubstr("byte " + std::to_string(at + 1) + " is"));
    }
  }
}

TEST(Text, LinesOfATextAreWithoutTheirEnds) {
  EXPECT_THAT(text_lines("", "x"), IsEmpty());
  EXPECT_THAT(text_lines("a\nb\n", "x"), ElementsAre("a", "b"));
  EXPECT_THAT(text_lines("\xEF\xBB\xBF"
                         "a\r\n\r\nb\r",
                         "x"),
              ElementsAre("a", "", "b"));
  EXPECT_ERROR(UsageError, "x.ini:2: byte 2 is not UTF-8", text_lines("a\nb\xE9\n", "x.ini"));
}

TEST(Text, FilesThatCannotBeReadAreUsageErrors) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.write("x", "a\r\nb"), "--start"), ElementsAre("a", "b"));
  EXPECT_EQ(message_of<UsageError>([&] { return read_lines(folder / "none", "--start 'none'"); }),
            "cannot read --start 'none': No such file or directory. Check the path and its permissions.");
}

// What is no file must stay what it is: a link to a device, replaced by root, is gone for all.
TEST(ReplacedFile, IsNoDeviceAndNoPipe) {
  const TemporaryFolder folder;
  EXPECT_EQ(replaced_file(folder / "new"), folder / "new");
  write_text(folder / "file", "before");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  EXPECT_EQ(replaced_file(folder / "link"), std::filesystem::canonical(folder / "file").string());
  write_text(folder / "link", "after");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "file"), "after");
  std::filesystem::create_symlink("/dev/null", folder / "null");
  EXPECT_EQ(replaced_file(folder / "null"), std::nullopt);
  write_text(folder / "null", "text");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "null"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(replaced_file(folder / "pipe"), std::nullopt);
}

// A pipe with a name may have no writer, and a device may give bytes for ever.
TEST(WholeFile, IsNoStreamWithoutEnd) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto refusal = [](const std::string& path) {
    return message_of<DataError>([&] { return read_whole_file(path); });
  };
  EXPECT_THAT(refusal(folder / "pipe"), HasSubstr("it is a named pipe, where a file is wanted. Name a file."));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("it is no regular file, and gives more than 64 MB."));
  EXPECT_EQ(read_whole_file("/dev/null"), "");
}

// As of a shell's <(…): its writer may be late.
TEST(WholeFile, IsWhatAPipeWithoutANameGives) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::thread writer([&] {
    for (const std::string& part : {"one\n"s, "two\n"s}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(write_all(ends[1], part), 0);
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(read_whole_file(fmt::format("/dev/fd/{}", ends[0])), "one\ntwo\n");
  writer.join();
  ::close(ends[0]);
}

TEST(ReplacedFile, TakesText) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink(folder / "nothing", folder / "link");
  const auto refusal = [](const std::string& path) {
    return message_of<UsageError>([&] { return replaced_file(path); });
  };
  EXPECT_THAT(refusal(folder / "sub"), HasSubstr("it is a folder. Name a file."));
  EXPECT_THAT(refusal(folder / "link"), HasSubstr("it is a link to nothing. Name a file."));
}

}  // namespace starling::text_test
