// What errors say is fit for one line of a terminal, whatever was in the file that it comes from.
#include "core/check.hpp"

#include <gtest/gtest.h>

namespace starling::check_test {

TEST(Check, MessagesHoldNoControlCharacters) {
  EXPECT_EQ(one_line("x.csv: 'α'"), "x.csv: 'α'");
  EXPECT_EQ(one_line(std::string("a\nb\x1b[2J\0c\x7f", 10)), "a?b?[2J?c?");
  EXPECT_STREQ(UsageError("unknown family 'ri\tng'").what(), "unknown family 'ri?ng'");
  EXPECT_STREQ(DataError("row 3:\r").what(), "row 3:?");
}

TEST(Check, LongMessagesAreCutBetweenCharacters) {
  const std::string most(longest_message, 'x');
  const std::string kept(longest_message - std::string("…").size(), 'x');
  EXPECT_EQ(one_line(most), most);
  EXPECT_EQ(one_line(most + "y"), kept + "…");
  EXPECT_EQ(one_line(kept.substr(1) + "αβγ"), kept.substr(1) + "…");
  EXPECT_EQ(one_line(std::string(longest_message + 1, '\x80')).size(), longest_message - 3);
}

}  // namespace starling::check_test
