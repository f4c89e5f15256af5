#include <cmath>
#include <string>

#include "core/check.hpp"
#include "data/cells/number.hpp"
#include "data/marking.hpp"

namespace starling::csv_test {

using namespace testing_support;

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
  EXPECT_EQ(read("a,b,y\n1e-400,-0.001e-330,1000e-400\n-3,4e2,1\n"), (Plains{{{0, 0}, {}, 0}, two_rows[1]}))
      << "less than the smallest double";
  EXPECT_EQ(read("\"1\",2,0.5\n-3,\"4e2\",1\n"), two_rows) << "quoted numbers";
}

// One rule for headers, ids, columns that are left out and numbers; the byte's value is in no message.
TEST_F(Csv, TextOfOtherEncodingsIsRefusedByName) {
  using namespace std::string_literals;
  const auto refuse = [this](const std::string& text) {
    return message_of<DataError>([&] {
      DataSettings settings;
      settings.drop = {"0"};
      static_cast<void>(read_all(folder_.write("x.csv", text), settings));
    });
  };
  EXPECT_EQ(read("\xC3\xA9,b,y\n1,2,0.5\n-3,4e2,1\n"), two_rows) << "UTF-8";
  EXPECT_EQ(refuse("a\xE9,b,y\n1,2,3\n"),
            (folder_ / "x.csv") +
                ": row 1: byte 2 is not UTF-8: text is read as UTF-8. Convert the file: iconv -f "
                "LATIN1 -t UTF-8 FILE > NEW");
  EXPECT_THAT(refuse("n,b,y\nx,1,2\nJos\xE9,1,2\n"), HasSubstr("x.csv: row 3: byte 4 is not UTF-8"));
  EXPECT_THAT(refuse("\xFF\xFEn\0,\0b\0,\0y\0\n\0"s), HasSubstr("x.csv: row 1: byte 1 is part of UTF-16"));
  EXPECT_THAT(refuse("n,b,y\r1,2,3\r4,5,6\r"), HasSubstr("x.csv: row 1: byte 6 is a carriage return"));
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

// A line of names that is taken for a record is one record too many, and the other way about it is one too few.
TEST_F(Csv, AFirstLineThatMayBeEitherIsRefused) {
  struct Case {
    std::string line;
    std::size_t records;  // with a second line of numbers; 0: refused
  };
  const std::vector<Case> cases{{"5.1,3.5,1O,1", 0}, {"5,3,1O,1", 0},  {"setosa,5.1,3.5", 0}, {"male,3,1,5", 0},
                                {"0,1", 0},          {"0,1,2", 0},     {",0,1", 0},           {"y,2020,2019", 0},
                                {"a,b,y", 1},        {"0,1,2,y", 1},   {"id,2019,2020,y", 1}, {"1stFlr,2ndFlr,y", 1},
                                {"1,0,1", 2},        {"0,1,2,3.5", 2}, {"5.1,3.5,1,1", 2},    {"1,2", 2}};
  for (const Case& each : cases) {
    const auto columns = std::count(each.line.begin(), each.line.end(), ',');
    std::string row = "4";
    for (std::ptrdiff_t k = 0; k < columns; ++k) row += ",4";
    const std::string path = folder_.write("x.csv", each.line + '\n' + row + '\n');
    if (each.records > 0) {
      EXPECT_EQ(read_all(path).size(), each.records) << each.line;
      continue;
    }
    EXPECT_THAT(message_of<RecordError>([&] { read_all(path); }), HasSubstr("x.csv: row 1: the first line is '"))
        << each.line;
    DataSettings names;
    names.header = ReadSettings::Header::yes;
    EXPECT_EQ(read_all(path, names).size(), 1U) << each.line;
  }
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

TEST_F(Csv, ValuesAreShownToTheirOwnerAlone) {
  const std::string x = folder_.write("x.csv", "a,b,y\n1,2,3\n1,John-Smith,3\n");
  try {
    read_all(x);
    ADD_FAILURE();
  } catch (const RecordError& error) {
    const std::string remedy = "--encode or --drop it, or name it by --missing-values where it means a missing value.";
    EXPECT_EQ(error.what(), x + ": row 3: column 'b' is a text: not a number. " + remedy);
    EXPECT_EQ(error.shown(), x + ": row 3: column 'b' is 'John-Smith': not a number. " + remedy);
  }
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
        Fault{"nan", "a,b,y\n1,2,3\n1,nan,3\n", {": row 3: column 'b' is 'nan': not finite; every value must be"}},
        Fault{"nan_in_the_first_line", "1,nan,3\n", {": row 1: column 1 (from 0) is 'nan': not finite"}},
        Fault{"infinity", "a,b,y\n-inf,2,3\n", {": row 2: column 'a' is '-inf': not finite"}},
        Fault{"capital_infinity", "1,2,3\n1,2,Infinity\n", {": row 2: column 2 (from 0) is 'Infinity': not finite"}},
        Fault{"overflow", "a,b,y\n1e999,2,3\n", {": row 2: column 'a' is '1e999': beyond the range"}},
        Fault{"empty_field", "a,b,y\n1,,3\n", {": row 2: column 'b' is empty: a missing value"}},
        Fault{"only_tabs", "a\tb\ty\n\t\t\n", {": row 2: column 'a' is empty: a missing value"}},
        Fault{"question_mark", "1,2,3\n1,?,3\n", {": row 2: column 1 (from 0) is '?': a missing value"}},
        Fault{"missing_mark_is_no_header", "1,NA,3\n1,2,3\n", {": row 1: column 1 (from 0) is 'NA': a missing value"}},
        Fault{
            "text", "a,b,y\n1,two,3\n", {": row 2: column 'b' is 'two': not a number. --encode or --drop it, or name"}},
        Fault{"text_in_the_label",
              "a,b,y\n1,2,cat\n",
              {"'cat': not a number. --encode it, or name another column by --label; a row without a label must be "
               "removed"}},
        Fault{"trailing_text", "a,b,y\n1,2x,3\n", {": row 2: column 'b' is '2x': not a number."}},
        Fault{"two_signs", "a,b,y\n+-1,2,3\n", {": row 2: column 'a' is '+-1': not a number."}},
        Fault{"decimal_comma",
              "a;b;y\n1,5;2;3\n",
              {": row 2: column 'a' is '1,5': a decimal comma; numbers have a point. Give --decimal comma"}},
        Fault{"decimal_comma_beside_commas",
              "a,b,y\n\"1,5\",2,3\n",
              {": row 2: column 'a' is '1,5': a decimal comma; numbers have a point. Write a point"}},
        Fault{"thousands_or_decimals",
              "a;b;y\n1,234;2;3\n",
              {"'1,234': a comma before thousands or before decimals: either could be meant. Write thousands without a "
               "comma; of decimals, give --decimal comma"}},
        Fault{"thousands", "a;b;y\n-1,234,567.8;2;3\n", {"commas between thousands; numbers have none. Write it"}},
        Fault{"underflow_of_an_integer_part", "a,b,y\n1000e999,2,3\n", {"'1000e999': beyond the range"}},
        Fault{"long_text", "a,b,y\n1," + long_text + ",3\n", {"is '" + std::string(40, 'x') + "…': not"}},
        Fault{"binary_text",
              std::string("a,b,y\n1,\x01\x02,3\n"),
              {"column 'b' is '?"
               "?': not a number."}},
        Fault{"short_row", "a,b,y\n1,2,3\n1,2\n", {": row 3: 2 fields: 3 expected, as in the first row."}},
        Fault{"long_row", "1,2,3\n\n1,2,3,4\n", {": row 3: 4 fields: 3 expected, as in the first row."}},
        Fault{"one_column", "1\n2\n", {": one column: a record needs a label and at least one feature."}}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(Csv, DatesAreDaysSinceAPublicDay) {
  DataSettings settings;
  settings.first_day = read_date("2024-02-28");
  const auto values = [&](const std::string& text) { return read_all(folder_.write("x.csv", text), settings); };
  const Plains rows = values("a,b,y\n2024-03-01,1,2\n1.3.2024,1,2\n2023-02-28 10:30,1,2\n2024-02-28T00:00,1,2\n");
  for (const auto& [row, days] : {std::pair{0, 2.0}, {1, 2.0}, {2, -365.0}, {3, 0.0}})
    EXPECT_EQ(rows[static_cast<std::size_t>(row)].values[0], days) << row;
  EXPECT_EQ(values("2024-03-01,1,2\n").size(), 1U) << "a date is no name of a column";
  for (const char* other : {"2023-02-29", "2024-13-01", "3/1/2024", "1.3.24", "24-03-01"}) {
    EXPECT_FALSE(read_date(other)) << other;
    EXPECT_THAT(message_of<DataError>([&] { values("a,b,y\n1,2,3\n" + std::string(other) + ",2,3\n"); }),
                HasSubstr("a date; features are numbers. Write it as 2024-03-01, a day of the calendar"));
  }
  EXPECT_THAT(message_of<DataError>([&] { read("a,b,y\n1.3.2024,2,3\n"); }),
              HasSubstr("Give --dates with a public day"));
}

TEST_F(Csv, AMissingLabelColumnListsTheColumns) {
  const std::string named = message_of<UsageError>([&] { read("a,b,c\n1,2,3\n", "age"); });
  EXPECT_THAT(named, HasSubstr("x.csv: no column 'age': the columns are a, b, c; they may also be numbered, 0 to 2."));
  const std::string numbered = message_of<UsageError>([&] { read("1,2,3\n", "3"); });
  EXPECT_THAT(numbered, HasSubstr("x.csv: no column '3': there is no header, and the columns are 0 to 2."));
  const std::string twice = message_of<UsageError>([&] { read("a,a,b\n1,2,3\n", "a"); });
  EXPECT_THAT(twice, HasSubstr("two columns are called 'a'"));
}

class CsvColumns : public Csv {
 protected:
  Plains read_columns(const std::string& text) const { return read_all(folder_.write("x.csv", text), settings_); }
  std::vector<std::string> keys(const std::string& text) const {
    const auto reader = open_reader(folder_.write("x.csv", text), settings_);
    std::vector<std::string> result;
    for (const Marked& marked : read_marked(*reader)) result.push_back(marked.read.key);
    return result;
  }
  std::string error(const std::string& text) const {
    return message_of<UsageError>([&] { read_columns(text); });
  }
  DataSettings settings_;
};

TEST_F(CsvColumns, IdsAndDroppedColumnsAreNoFeatures) {
  const std::string named = "id,a,who,b,y\n7,1,Ann,2,0.5\n8,-3,Bob,4e2,1\n";
  settings_.id = "id";
  settings_.drop = {"who"};
  EXPECT_EQ(read_columns(named), two_rows);
  EXPECT_THAT(open_reader(folder_.write("x.csv", named), settings_)->names(), ElementsAre("a", "b"));
  settings_.id = "2";
  settings_.drop = {"0"};
  EXPECT_EQ(read_columns(named), two_rows) << "by number";
  const std::string bare = "7,1,\"An,n\",2,0.5\n8,-3,Bob,4e2,1\n";
  EXPECT_EQ(read_columns(bare), two_rows) << "without a header, text in every row";
  EXPECT_TRUE(open_reader(folder_.write("x.csv", bare), settings_)->names().empty());
  settings_.id.clear();
  settings_.drop = {"0", "2"};
  EXPECT_EQ(read_columns("x,1,y,2,0.5\n,-3,\"\",4e2,1\n"), two_rows) << "empty fields may be dropped";
}

TEST_F(CsvColumns, TheLastColumnIsTheLastThatIsLeft) {
  settings_.drop = {"2"};
  settings_.id = "4";
  EXPECT_EQ(read_columns("1,2,9,0.5,a\n-3,4e2,9,1,b\n"), two_rows);
}

TEST_F(CsvColumns, TheKeyIsTextAndNoFeature) {
  settings_.key = "who";
  const std::string named = "a,who,b,y\n1, Ann ,2,0.5\n-3,\"B \"\"o\"\", b\",4e2,1\n";
  EXPECT_EQ(read_columns(named), two_rows);
  EXPECT_THAT(keys(named), ElementsAre("Ann", "B \"o\", b"));
  settings_.key = "1";
  const std::string bare = "1,Ann,2,0.5\n-3,Bob,4e2,1\n";
  EXPECT_EQ(read_columns(bare), two_rows);
  EXPECT_THAT(keys(bare), ElementsAre("Ann", "Bob"));
  EXPECT_THAT(keys("1 7 2 0.5\n-3  08  4e2 1\n"), ElementsAre("7", "08")) << "as it stands";
}

TEST_F(CsvColumns, TheKeyMayHaveAnotherUse) {
  settings_.key = "y";
  EXPECT_EQ(read_columns("a,b,y\n1,2,0.5\n-3,4e2,1\n"), two_rows) << "the label";
  EXPECT_THAT(keys("a,b,y\n1,2,0.5\n-3,4e2,1\n"), ElementsAre("0.5", "1"));
  settings_.key = settings_.id = "0";
  EXPECT_EQ(read_columns("k,1,2,0.5\nl,-3,4e2,1\n"), two_rows) << "the id";
  EXPECT_THAT(keys("k,1,2,0.5\nl,-3,4e2,1\n"), ElementsAre("k", "l"));
}

TEST_F(CsvColumns, AKeyThatIsTheLastColumnMustBeExplained) {
  settings_.key = "2";
  EXPECT_THAT(error("1,2,3\n"), HasSubstr("column 2 (from 0) is the last, and --partition column: names it"));
  settings_.label = "2";
  EXPECT_THAT(keys("1,2,3\n"), ElementsAre("3"));
  settings_.label = "0";
  EXPECT_EQ(read_columns("3,1,2\n"), (Plains{{{1}, {}, 3}}));
}

TEST_F(CsvColumns, NamesWinOverNumbers) {
  settings_.drop = {"1"};
  EXPECT_EQ(read_columns("1,a,b,y\n7,1,2,0.5\n8,-3,4e2,1\n"), two_rows);
}

TEST_F(CsvColumns, AColumnHasOneUse) {
  settings_.label = "a";
  settings_.drop = {"0"};
  EXPECT_THAT(error("a,b,c\n1,2,3\n"), HasSubstr("x.csv: column 'a' is named by --label and by --drop"));
  settings_.label.clear();
  settings_.drop = {"b", "1"};
  EXPECT_THAT(error("a,b,c\n1,2,3\n"), HasSubstr("column 'b' is named by --drop and by --drop"));
  settings_.drop = {"a", "b"};
  EXPECT_THAT(error("a,b,y\n1,2,3\n"), HasSubstr("no column is left as a feature"));
}

TEST_F(CsvColumns, MissingColumnsAreToldWithTheirOption) {
  const std::string text = "a,b,y\n1,2,3\n";
  settings_.id = "x";
  EXPECT_THAT(error(text),
              HasSubstr("x.csv: no column 'x': the columns are a, b, y; they may also be numbered, 0 to 2. "
                        "Give --id one of them"));
  settings_.id.clear();
  settings_.drop = {"3"};
  EXPECT_THAT(error(text), HasSubstr("Give --drop one of them"));
  settings_.drop.clear();
  settings_.key = "-1";
  EXPECT_THAT(error(text), HasSubstr("Give --partition column: one of them"));
}

TEST_F(CsvColumns, AHeaderIsToldFromTheColumnsOfNumbers) {
  using Header = ReadSettings::Header;
  settings_.id = "name";
  EXPECT_EQ(read_columns("name,10,11,12\nx,1,2,0.5\ny,-3,4e2,1\n"), two_rows) << "a name that was asked for is there";
  settings_.id = "0";
  EXPECT_EQ(read_columns("name,10,11,12\nx,1,2,0.5\n").size(), 2U) << "numbers but for the id";
  settings_.header = Header::yes;
  EXPECT_EQ(read_columns("name,10,11,12\nx,1,2,0.5\ny,-3,4e2,1\n"), two_rows);
  settings_.header = Header::no;
  EXPECT_ERROR(DataError, "row 1: column 1 (from 0) is 'a': not a number.", read_columns("name,a,b,y\nx,1,2,0.5\n"));
  settings_.id = "name";
  EXPECT_THAT(error("name,a,b,y\nx,1,2,0.5\n"), HasSubstr("no column 'name': there is no header"));
}

TEST_F(CsvColumns, TheDelimiterMayBeGiven) {
  const auto expect = [this](const std::string& delimiter, const std::string& text) {
    settings_.delimiter = delimiter;
    EXPECT_EQ(read_columns(text), two_rows) << delimiter;
  };
  expect("comma", "1,2,0.5\n-3,4e2,1\n");
  expect("semicolon", "\"a,\";\",,b\";y\n1;2;0.5\n-3;4e2;1\n");
  expect("tab", "1\t2\t0.5\n-3\t4e2\t1\n");
  expect("space", "a, b, y\n 1  2 0.5 \n-3 4e2 1\n");
  expect("|", "a, b|b|y\n1|2|0.5\n-3| 4e2 |1\n");
  expect(":", "1:2:0.5\n-3:4e2:1\n");
}

TEST_F(CsvColumns, ADelimiterThatNumbersHoldIsRefused) {
  for (const std::string delimiter : {"e", "1", ".", "-", "+", "\"", "", "||", "\n", "colon"}) {
    settings_.delimiter = delimiter;
    EXPECT_THAT(error("1,2,3\n"), HasSubstr("must be auto, comma, semicolon, tab, space, or one character"))
        << delimiter;
  }
}

TEST_F(Csv, MarksLeadBack) {
  std::string text = "\xEF\xBB\xBF\n  \nwho,a,\"b\",y\r\n";
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("p{},{},\"{}.5\",{}{}", i, i, -i, i % 2, i % 3 == 0 ? "\r\n" : "\n");
    if (i % 7 == 0) text += i % 2 == 0 ? "\n" : "   \r\n\n";
  }
  DataSettings settings;
  settings.key = "who";
  EXPECT_EQ(expect_marks_lead_back(folder_.write("a.csv", text), settings), 50U);
  EXPECT_EQ(expect_marks_lead_back(write_gzipped(folder_, "a.csv.gz", text), settings), 50U);
  const std::string bare =
      "\xEF\xBB\xBF"
      "1,2,3\n4,5,6\r\n\n7,8,9";
  EXPECT_EQ(expect_marks_lead_back(folder_.write("b.csv", bare)), 3U)
      << "a record in the first line, none after the last";
  EXPECT_EQ(expect_marks_lead_back(write_gzipped(folder_, "b.csv.gz", bare)), 3U);
  EXPECT_EQ(expect_marks_lead_back(folder_.write("c.csv", "\xEF\xBB\xBF\n \n" + bare.substr(3))), 3U);
}

TEST_F(Csv, MarksLeadBackBeyondTheBuffer) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 2000; ++j) text += fmt::format("{},", i * 1000 + j);
    text += "1\n";
  }
  EXPECT_EQ(expect_marks_lead_back(folder_.write("a.csv", text)), 30U);
  EXPECT_EQ(expect_marks_lead_back(write_gzipped(folder_, "a.csv.gz", text)), 30U);
}

/// The quick way through plain numbers gives the bits that the careful one gives to the same text in quotes.
TEST_F(Csv, QuickAndCarefulReadingAgree) {
  std::string plain_text;
  std::string quoted_text;
  std::uint64_t state = 7;
  const auto draw = [&state](std::uint64_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % n;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string number = draw(2) == 0 ? "-" : "";
    for (std::uint64_t k = draw(18) + 1; k > 0; --k) number += static_cast<char>('0' + draw(10));
    if (draw(2) == 0) number.insert(number.size() - draw(number.size() - (number[0] == '-' ? 1 : 0)), ".");
    if (draw(8) == 0) number += fmt::format("e{}", static_cast<int>(draw(40)) - 20);
    plain_text += number + ",1\n";
    quoted_text += "\"" + number + "\",1\n";
  }
  const Plains quick = read(plain_text);
  ASSERT_EQ(quick.size(), 20'000U);
  EXPECT_EQ(quick, read(quoted_text));
  EXPECT_TRUE(std::signbit(read("-0,1\n")[0].values[0]));
}

TEST_F(Csv, ADimensionMustBeTheFiles) {
  DataSettings settings;
  settings.dimension = 3;
  const std::string path = folder_.write("x.csv", "1,2,3\n");
  EXPECT_ERROR(UsageError, "2 features: --dimension says 3", read_all(path, settings));
  settings.dimension = 2;
  EXPECT_EQ(read_all(path, settings).size(), 1U);
}

TEST_F(Csv, ADecimalCommaDelimitsNothing) {
  DataSettings settings;
  settings.decimal = ReadSettings::Decimal::comma;
  const auto all = [&](const std::string& text) { return read_all(folder_.write("x.csv", text), settings); };
  EXPECT_EQ(all("1;2,0;0,5\n-3;+4e2;1\n"), two_rows);
  EXPECT_EQ(all("1 2,0 0,5\n-3 4e2 1\n"), two_rows);
  EXPECT_ERROR(DataError, "a number with a point", all("a;y\n1.5;1\n"));
  EXPECT_EQ(all("1,2.0,0.5\n-3,+4e2,1\n"), two_rows) << "another site's file, which has its commas between columns";
  EXPECT_EQ(all("a,b,y\n1,2.0,0.5\n-3,400,1\n"), two_rows);
  settings.delimiter = ",";
  EXPECT_ERROR(UsageError, "a comma cannot be both", all("1,2,3\n"));
}

}  // namespace starling::csv_test
