#include "starling/files/text.hpp"

#include "support/testing.hpp"
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "starling/core/check.hpp"

namespace starling::text_test {

using namespace std::string_literals;
using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  EXPECT_THAT(message_of<UsageError>([] { static_cast<void>(text_lines("a\nb\xE9\n", "x.ini")); }),
              HasSubstr("x.ini:2: byte 2 is not UTF-8"));
}

TEST(Text, FilesThatCannotBeReadAreUsageErrors) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.write("x", "a\r\nb"), "--start"), ElementsAre("a", "b"));
  EXPECT_EQ(message_of<UsageError>([&] { static_cast<void>(read_lines(folder / "none", "--start 'none'")); }),
            "cannot read --start 'none': No such file or directory. Check the path and its permissions");
}

}  // namespace starling::text_test
