#include "report/view/table_text.hpp"

#include "support/testing.hpp"

namespace starling::table_text_test {

TEST(Rows, AreReadBackAsTheyWereWritten) {
  const std::vector<std::pair<std::string, std::string>> rows{{"accuracy", "81.2 %"},
                                                              {"", "75 % by answering the larger class always"},
                                                              {"  windows of 100", "1 -> 2"},
                                                              {"note", ""}};
  std::string text;
  for (const auto& [name, value] : rows) text += table_row(name, value);
  EXPECT_EQ(rows_in(text), rows);
  EXPECT_TRUE(rows_in("").empty());
}

}  // namespace starling::table_text_test
