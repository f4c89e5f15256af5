#include "data/reading.hpp"
#include <string>

#include "starling/core/check.hpp"

namespace starling {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

class Csv : public testing::Test {
 protected:
  Plains read(const std::string& text, const std::string& label = {}) const {
    DataSettings settings;
    settings.label = label;
    return read_all(folder_.write("x.csv", text), settings);
  }
  TemporaryFolder folder_;
};

const Plains two_rows{{{1, 2}, {}, 0.5}, {{-3, 4e2}, {}, 1}};

TEST_F(Csv, FindsTheDelimiter) {
  EXPECT_EQ(read("1,2,0.5\n-3,4e2,1\n"), two_rows);
  EXPECT_EQ(read("1;2;0.5\n-3;4e2;1\n"), two_rows);
  EXPECT_EQ(read("1\t2\t0.5\n-3\t4e2\t1\n"), two_rows);
  EXPECT_EQ(read("  1 2   0.5 \n-3  4e2 1\n"), two_rows);
  EXPECT_EQ(read("1, 2 , 0.5\n -3,4e2,\t1 \n"), two_rows);
  EXPECT_EQ(read("\"a, b, c\";b;y\n1;2;0.5\n-3;4e2;1\n"), two_rows);
}

TEST_F(Csv, TakesLinesAsTheyAreMeant) {
  EXPECT_EQ(read("1,2,0.5\r\n-3,4e2,1\r\n"), two_rows);
  EXPECT_EQ(read("1,2,0.5\n-3,4e2,1"), two_rows) << "no newline at the end";
  EXPECT_EQ(read("\n1,2,0.5\n\n  \n-3,4e2,1\n\n"), two_rows) << "blank lines";
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "1,2,0.5\n-3,4e2,1\n"),
            two_rows)
      << "byte order mark";
  EXPECT_EQ(read("+1,2,+0.5\n-3,+4e2,1\n"), two_rows) << "plus signs";
  EXPECT_EQ(read("\"1\",2,0.5\n-3,\"4e2\",1\n"), two_rows) << "quoted numbers";
}

TEST_F(Csv, FindsTheLabel) {
  EXPECT_EQ(read("a,b,c\n1,2,0.5\n-3,4e2,1\n"), two_rows) << "the last";
  EXPECT_EQ(read("a,Y,b\n1,0.5,2\n-3,1,4e2\n"), two_rows);
  EXPECT_EQ(read("\"LABEL\",\"a\",\"b\"\n0.5,1,2\n1,-3,4e2\n"), two_rows);
  EXPECT_EQ(read("a,\"the class\",b\n1,0.5,2\n-3,1,4e2\n", "the class"), two_rows);
  EXPECT_EQ(read("a,y,b\n0.5,1,2\n1,-3,4e2\n", "a"), two_rows) << "a name that is given beats y";
  EXPECT_EQ(read("0.5,1,2\n1,-3,4e2\n", "0"), two_rows);
  EXPECT_EQ(read("a,b,c\n1,0.5,2\n-3,1,4e2\n", "1"), two_rows);
}

TEST_F(Csv, AHeaderOfNumbersAndNamesIsAHeader) {
  EXPECT_EQ(read("0,1,y\n1,2,0.5\n-3,4e2,1\n"), two_rows);
}

TEST_F(Csv, AnEmptyFileHasNoRecords) {
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\n\n").empty());
  EXPECT_TRUE(read("a,b,y\n").empty());
}

TEST_F(Csv, LinesMayBeLongerThanAnyBuffer) {
  constexpr std::size_t columns = 300'000;
  std::string text;
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < columns; ++i) text += std::to_string(i + row) + ',';
    text += "1\n";
  }
  const Plains records = read(text);
  ASSERT_EQ(records.size(), 2U);
  ASSERT_EQ(records[1].values.size(), columns);
  for (std::size_t i = 0; i < columns; ++i) ASSERT_EQ(records[1].values[i], static_cast<double>(i + 1));
}

TEST_F(Csv, WhereNamesTheLineOfTheFile) {
  const std::string path = folder_.write("x.csv", "a,b,y\n1,2,3\n\n4,5,6\n");
  const auto reader = open_reader(path, {});
  EXPECT_EQ(reader->features(), 2U);
  Record record;
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(reader->where(), path + ": row 2");
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(reader->where(), path + ": row 4");
  EXPECT_FALSE(record.row().sparse());
  EXPECT_FALSE(reader->next(record));
  EXPECT_FALSE(reader->next(record));
}

class CsvFault : public Csv, public testing::WithParamInterface<Fault> {};

TEST_P(CsvFault, IsRefusedWithItsPlace) {
  const std::string message = message_of<DataError>([&] { read(GetParam().text, GetParam().label); });
  EXPECT_THAT(message, HasSubstr(folder_ / "x.csv"));
  expect_all_in(message, GetParam().message);
}

const std::string long_text(1000, 'x');

INSTANTIATE_TEST_SUITE_P(
    Data, CsvFault,
    testing::Values(
        Fault{"nan", "a,b,y\n1,2,3\n1,nan,3\n", {": row 3: column 'b' is 'nan' (not finite; every value must be"}},
        Fault{"nan_in_the_first_line", "1,nan,3\n", {": row 1: column 1 (from 0) is 'nan' (not finite"}},
        Fault{"infinity", "a,b,y\n-inf,2,3\n", {": row 2: column 'a' is '-inf' (not finite"}},
        Fault{"capital_infinity", "1,2,3\n1,2,Infinity\n", {": row 2: column 2 (from 0) is 'Infinity' (not finite"}},
        Fault{"overflow", "a,b,y\n1e999,2,3\n", {": row 2: column 'a' is '1e999' (beyond the range"}},
        Fault{"empty_field", "a,b,y\n1,,3\n", {": row 2: column 'b' is empty (a missing value"}},
        Fault{"only_tabs", "a\tb\ty\n\t\t\n", {": row 2: column 'a' is empty (a missing value"}},
        Fault{"question_mark", "1,2,3\n1,?,3\n", {": row 2: column 1 (from 0) is '?' (a missing value"}},
        Fault{"missing_mark_is_no_header", "1,NA,3\n1,2,3\n", {": row 1: column 1 (from 0) is 'NA' (a missing value"}},
        Fault{"text", "a,b,y\n1,two,3\n", {": row 2: column 'b' is 'two' (not a number) encode it"}},
        Fault{"text_in_the_label", "a,b,y\n1,2,cat\n", {": row 2: column 'y' is 'cat' (not a number)"}},
        Fault{"trailing_text", "a,b,y\n1,2x,3\n", {": row 2: column 'b' is '2x' (not a number)"}},
        Fault{"two_signs", "a,b,y\n+-1,2,3\n", {": row 2: column 'a' is '+-1' (not a number)"}},
        Fault{"decimal_comma", "a;b;y\n1,5;2;3\n", {": row 2: column 'a' is '1,5' (not a number)"}},
        Fault{"long_text", "a,b,y\n1," + long_text + ",3\n", {"is '" + std::string(40, 'x') + "…' (not"}},
        Fault{"binary_text",
              std::string("a,b,y\n1,\x01\x02,3\n"),
              {"column 'b' is '?"
               "?' (not a number)"}},
        Fault{"short_row", "a,b,y\n1,2,3\n1,2\n", {": row 3: 2 fields (3 expected, as in the first row)"}},
        Fault{"long_row", "1,2,3\n\n1,2,3,4\n", {": row 3: 4 fields (3 expected, as in the first row)"}},
        Fault{"one_column", "1\n2\n", {": row 1: one column (a record needs a label and at least one feature)"}}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(Csv, AMissingLabelColumnListsTheColumns) {
  const std::string named = message_of<UsageError>([&] { read("a,b,c\n1,2,3\n", "age"); });
  EXPECT_THAT(named, HasSubstr("x.csv: no column 'age' (the columns are a, b, c; they may also be numbered, 0 to 2)"));
  const std::string numbered = message_of<UsageError>([&] { read("1,2,3\n", "3"); });
  EXPECT_THAT(numbered, HasSubstr("x.csv: no column '3' (there is no header, and the columns are 0 to 2)"));
  const std::string twice = message_of<UsageError>([&] { read("a,a,b\n1,2,3\n", "a"); });
  EXPECT_THAT(twice, HasSubstr("two columns are called 'a'"));
}

TEST_F(Csv, ADimensionMustBeTheFiles) {
  DataSettings settings;
  settings.dimension = 3;
  const std::string path = folder_.write("x.csv", "1,2,3\n");
  EXPECT_THAT(message_of<UsageError>([&] { read_all(path, settings); }), HasSubstr("2 features (--dimension says 3"));
  settings.dimension = 2;
  EXPECT_EQ(read_all(path, settings).size(), 1U);
}

}  // namespace
}  // namespace starling
