#include "options/toml_file.hpp"

#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::toml_file_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read_toml(text, "run.toml"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TomlFile, IsToldByItsName) {
  EXPECT_TRUE(is_toml("jobs/run.toml"));
  EXPECT_FALSE(is_toml("toml.ini"));
  EXPECT_FALSE(is_toml("run.toml.ini"));
}

TEST(TomlFile, GivesTheTextOfEveryKindOfValue) {
  const struct {
    std::string value;
    std::vector<std::string> texts;
  } cases[] = {{"'site-{client}.csv'", {"site-{client}.csv"}},
               {"\"a \\\"b\\\"\"", {"a \"b\""}},
               {"1_000", {"1000"}},
               {"-3", {"-3"}},
               {"0x10", {"16"}},
               {"0.1", {"0.1"}},
               {"1e-5", {"1e-05"}},
               {"2.0", {"2"}},
               {"true", {"true"}},
               {"false", {"false"}},
               {"''", {""}},
               {"['age', 'town']", {"age", "town"}},
               {"[1, 2.5]", {"1", "2.5"}}};
  for (const auto& [value, texts] : cases) {
    const std::vector<FileEntry> entries = read_toml("key = " + value + "\n", "run.toml");
    ASSERT_EQ(entries.size(), 1U) << value;
    EXPECT_EQ(entries[0].key, "key") << value;
    EXPECT_EQ(entries[0].values, texts) << value;
    EXPECT_EQ(entries[0].line, 1) << value;
  }
}

TEST(TomlFile, KeepsTheOrderOfLines) {
  const std::vector<FileEntry> entries = read_toml("# comment\nstep = 1\n\n'batch' = 2\nclip = 3 # end\n", "run.toml");
  std::vector<std::string> keys;
  std::vector<long long> lines;
  for (const FileEntry& entry : entries) {
    keys.push_back(entry.key);
    lines.push_back(entry.line);
  }
  EXPECT_THAT(keys, ElementsAre("step", "batch", "clip"));
  EXPECT_THAT(lines, ElementsAre(2, 4, 5));
}

TEST(TomlFile, SaysInWhichLineWhatIsWrong) {
  const struct {
    std::string text;
    std::vector<std::string> parts;
  } cases[] = {{"step = 1\nbatch\n", {"run.toml:", "key = value"}},
               {"step = 1\nsource = site.csv\n", {"run.toml:2: ", "text in quotes"}},
               {"step = 1\n\u00e9 = 2\n", {"run.toml:2: ", "not ASCII"}},
               {"step = 1\nbatch = 2\nstep = 3\n", {"run.toml:3: "}},
               {"step = 1\n[data]\nsource = 'a'\n", {"run.toml:2: data: ", "table"}},
               {"step = 1\ndata.source = 'a'\n", {"run.toml:2: data: ", "table"}},
               {"drop = [['a']]\n", {"run.toml:1: drop: ", "array in an array"}},
               {"\ndrop = []\n", {"run.toml:2: drop: ", "empty"}},
               {"day = 2024-01-01\n", {"run.toml:1: day: ", "date"}},
               {"step = inf\n", {"run.toml:1: step: ", "not finite"}},
               {"source = 'a#b'\n", {"run.toml:1: source: ", "holds a #"}},
               {"source = '''a\nb'''\n", {"run.toml:1: source: ", "line break"}}};
  for (const auto& [text, parts] : cases) {
    const std::string error = error_of(text);
    for (const std::string& part : parts) EXPECT_THAT(error, HasSubstr(part)) << text;
  }
}

}  // namespace starling::toml_file_test
