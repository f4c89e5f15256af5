#include <string>

#include "core/check.hpp"
#include "data/marking.hpp"

namespace starling::svmlight_test {

using namespace testing_support;

class Svmlight : public testing::Test {
 protected:
  Plains read(const std::string& text) const { return read_all(folder_.write("x.svm", text), settings_); }
  TemporaryFolder folder_;
  DataSettings settings_;
};

TEST_F(Svmlight, ReadsSparseRows) {
  const Plains expected{{{1, -0.5}, {0, 6}, 1}, {{}, {}, -1}, {{3e-2}, {1}, 2.5}};
  EXPECT_EQ(read("+1 1:1 7:-0.5\n-1\n2.5 2:3e-2\n"), expected);
  EXPECT_EQ(read("1 qid:3 1:1  7:-0.5 # 9:9\r\n# a comment\n\n-1 \n2.5\t2:+3e-2"), expected);
}

TEST_F(Svmlight, TextOfOtherEncodingsIsRefusedByName) {
  EXPECT_THAT(message_of<DataError>([this] { read("1 1:1\n1 1:2 # \xE9\n"); }),
              HasSubstr("row 2: byte 9 is not UTF-8"));
  EXPECT_THAT(message_of<DataError>([this] { read("1 1:1\r1 1:2\r"); }),
              HasSubstr("row 1: byte 6 is a carriage return"));
}

TEST_F(Svmlight, AnEmptyRowIsSparse) {
  const auto reader = open_reader(folder_.write("x.svm", "1\n"), settings_);
  Record record;
  ASSERT_TRUE(reader->next(record));
  EXPECT_TRUE(record.row().sparse());
}

TEST_F(Svmlight, FeaturesAreTheLargestIndexOrTheDimension) {
  const std::string path = folder_.write("x.svm", "1 3:1\n1 7:1\n1 2:1\n");
  auto reader = open_reader(path, settings_);
  read_all(*reader);
  EXPECT_EQ(reader->features(), 7U);
  settings_.dimension = 9;
  reader = open_reader(path, settings_);
  read_all(*reader);
  EXPECT_EQ(reader->features(), 9U);
}

TEST_F(Svmlight, AnIndexBeyondTheDimensionIsRefused) {
  settings_.dimension = 3;
  EXPECT_EQ(read("1 3:1\n").size(), 1U);
  EXPECT_ERROR(DataError, "x.svm: row 2: index 4: --dimension is 3.", read("1 3:1\n1 2:1 4:1\n"));
}

TEST_F(Svmlight, MarksLeadBack) {
  std::string text = "\xEF\xBB\xBF# a comment\n\n";
  for (int i = 1; i < 40; ++i) {
    text += fmt::format("{} {}:{}{}", i, i, -i, i % 3 == 0 ? " # c\r\n" : "\n");
    if (i % 5 == 0) text += "\n# 1 1:1\n";
  }
  EXPECT_EQ(expect_marks_lead_back(folder_.write("a.svm", text)), 39U);
  EXPECT_EQ(expect_marks_lead_back(write_gzipped(folder_, "a.svm.gz", text)), 39U);
}

class SvmlightFault : public Svmlight, public testing::WithParamInterface<Fault> {};

TEST_P(SvmlightFault, IsRefusedWithItsPlace) {
  const std::string message = message_of<DataError>([&] { read(GetParam().text); });
  EXPECT_THAT(message, HasSubstr(folder_ / "x.svm"));
  expect_all_in(message, GetParam().message);
}

// Neither values nor which features a record has: what others read differs by the kind of fault alone.
TEST_P(SvmlightFault, IsToldToOthersWithoutItsText) {
  try {
    read(GetParam().text);
    ADD_FAILURE();
  } catch (const RecordError& error) {
    const std::string message = std::string(error.what()).substr((folder_ / "x.svm").size());
    EXPECT_EQ(message.find('\''), std::string::npos) << message;
    EXPECT_THAT(message, Not(testing::ContainsRegex("index -?[0-9]"))) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, SvmlightFault,
    testing::Values(
        Fault{"index_zero", "1 1:1\n1 0:1\n", {": row 2: index 0: indices count from 1."}},
        Fault{"negative_index", "1 -3:1\n", {": row 1: index -3: indices count from 1."}},
        Fault{"descending", "# c\n1 4:1 3:1\n", {": row 2: index 3 comes after 4: indices must ascend."}},
        Fault{"twice", "1 4:1 4:1\n", {": row 1: index 4 stands twice: a feature has one value."}},
        Fault{"no_colon", "1 1:1 4\n", {": row 1: '4' is not index:value"}},
        Fault{"no_index", "1 :4\n", {": row 1: ':4' is not index:value"}},
        Fault{"index_not_whole", "1 1.5:4\n", {": row 1: '1.5:4' is not index:value"}},
        Fault{"index_too_large", "1 4294967297:4\n", {": row 1: '4294967297:4' has an index beyond 2147483647"}},
        Fault{"no_value", "1 4:\n", {": row 1: the value at index 4 is empty: a missing value"}},
        Fault{"text_value", "1 4:four\n", {": row 1: the value at index 4 is 'four': not a number."}},
        Fault{"two_colons", "1 4:5:6\n", {": row 1: the value at index 4 is '5:6': not a number."}},
        Fault{"nan", "1 2:1\n1 4:nan\n", {": row 2: the value at index 4 is 'nan': not finite"}},
        Fault{"infinity", "1 4:-Inf\n", {": row 1: the value at index 4 is '-Inf': not finite"}},
        Fault{"overflow", "1 4:1e400\n", {": row 1: the value at index 4 is '1e400': beyond the range"}},
        Fault{"nan_label", "nan 4:1\n", {": row 1: the label is 'nan': not finite"}},
        Fault{"text_label", "yes 4:1\n", {": row 1: the label is 'yes': not a number."}},
        Fault{"no_label", "1:1 4:1\n", {": row 1: the label is '1:1': not a number."}}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace starling::svmlight_test
