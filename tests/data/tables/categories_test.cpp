/// Texts that stand for numbers (--encode).
#include "core/check.hpp"
#include "data/generators/synthetic.hpp"
#include "data/marking.hpp"
#include "data/reading.hpp"

namespace starling::categories_test {

using namespace testing_support;

class Encode : public testing::Test {
 protected:
  DataSettings with(const std::string& table) const {
    DataSettings settings;
    settings.encode = folder_.write("codes.csv", table);
    return settings;
  }
  Plains read(const std::string& text, const DataSettings& settings) const {
    return read_all(folder_.write("x.csv", text), settings);
  }

  TemporaryFolder folder_;
  const std::string smoker_ = "column,category,value\nsmoker,no,0\nsmoker,yes,1\n";
  const Plains two_{Plain{{30, 1}, {}, 2.5}, Plain{{40, 0}, {}, 3}};
};

TEST_F(Encode, GivesTextsTheirNumbers) {
  EXPECT_EQ(read("age,smoker,y\n30,yes,2.5\n40,no,3\n", with(smoker_)), two_);
  EXPECT_EQ(read("age,smoker,y\n30,\"yes\",2.5\n40, no ,3\n", with(smoker_)), two_) << "quotes and blanks";
  EXPECT_EQ(read("age;smoker;y\n30;yes;2.5\n40;no;3\n", with("value;column;category\n0;smoker;no\n1;smoker;yes\n")),
            two_);
}

TEST_F(Encode, TakesColumnsByNumber) {
  const DataSettings settings = with("column,category,value\n1,no,0\n1,yes,1\n");
  EXPECT_EQ(read("30,yes,2.5\n40,no,3\n", settings), two_) << "no line of names";
  EXPECT_EQ(read("age,smoker,y\n30,yes,2.5\n40,no,3\n", settings), two_);
}

TEST_F(Encode, TakesTheLabelToo) {
  const DataSettings settings = with("column,category,value\ny,low,-1\ny,high,0.5e1\n");
  EXPECT_EQ(read("a,y\n1,low\n2,high\n", settings), (Plains{Plain{{1}, {}, -1}, Plain{{2}, {}, 5}}));
  DataSettings positive = settings;
  positive.positive = {5};
  EXPECT_EQ(read("a,y\n1,low\n2,high\n", positive), (Plains{Plain{{1}, {}, -1}, Plain{{2}, {}, 1}}));
}

// Several columns have categories of their own, of which some may look like numbers or hold quotes, or be nothing.
TEST_F(Encode, KeepsColumnsApart) {
  const DataSettings settings =
      with("column,category,value\na,1,10\nb,1,20\na,,30\nb,\"say \"\"yes\"\"\",40\nb,NA,50\n");
  EXPECT_EQ(read("a,b,y\n1,1,0\n,\"say \"\"yes\"\"\",1\n1,NA,2\n", settings),
            (Plains{Plain{{10, 20}, {}, 0}, Plain{{30, 40}, {}, 1}, Plain{{10, 50}, {}, 2}}));
}

TEST_F(Encode, ComposesWithTheOtherReadingOptions) {
  DataSettings settings = with(smoker_);
  settings.standardise = folder_.write("constants.csv", "feature,mean,sd\nage,30,10\nsmoker,0.5,0.5\n");
  EXPECT_EQ(read("age,smoker,y\n30,yes,2.5\n40,no,3\n", settings),
            (Plains{Plain{{0, 1}, {}, 2.5}, Plain{{1, -1}, {}, 3}}));
  settings = with(smoker_);
  settings.drop = {"smoker"};
  EXPECT_EQ(read("age,smoker,y\n30,perhaps,2.5\n", settings), (Plains{Plain{{30}, {}, 2.5}}));
  settings = with(smoker_);
  const std::string features = folder_.write("f.csv", "age,smoker\n30,yes\n40,no\n");
  EXPECT_EQ(read_all(features + "," + folder_.write("l.csv", "2.5\n3\n"), settings), two_) << "a pair";
}

TEST_F(Encode, MarksLeadBack) {
  const std::string source = folder_.write("x.csv", "age,smoker,y\n30,yes,2.5\n40,no,3\n");
  EXPECT_EQ(expect_marks_lead_back(source, with(smoker_)), 2U);
}

TEST_F(Encode, RefusesCategoriesNeverSeen) {
  const std::string message =
      message_of<DataError>([&] { read("age,smoker,y\n30,yes,2.5\n40,perhaps,3\n", with(smoker_)); });
  expect_all_in(message, {"x.csv: row 3", "column 'smoker' is 'perhaps'", "a category never seen", "codes.csv has",
                          "'no', 'yes'"});
  expect_all_in(message_of<DataError>([&] { read("age,smoker,y\n30,1,2.5\n", with(smoker_)); }), {"is '1'"});
  expect_all_in(message_of<DataError>([&] { read("age,smoker,y\n30,,2.5\n", with(smoker_)); }), {"is ''"});
  expect_all_in(
      message_of<DataError>([&] { read("30,yes,2.5\n40,Yes,3\n", with("column,category,value\n1,yes,1\n")); }),
      {"row 2", "column 1 (from 0) is 'Yes'"});
  expect_all_in(message_of<DataError>([&] { read("age,smoker,y\nold,yes,2.5\n", with(smoker_)); }),
                {"row 2", "column 'age'", "old"});
  std::string many = "column,category,value\n";
  for (int i = 0; i < 14; ++i) many += fmt::format("smoker,c{},1\n", i);
  expect_all_in(message_of<DataError>([&] { read("age,smoker,y\n30,no,2.5\n", with(many)); }), {"'c0'", "and 4 more"});
}

TEST_F(Encode, RefusesTablesThatDoNotFit) {
  const std::vector<testing_support::Fault> faults{
      {"unknown column", smoker_ + "region,west,1\n", {"codes.csv: row 4", "no column 'region'", "age, smoker, y"}},
      {"beyond", smoker_ + "3,west,1\n", {"codes.csv: row 4", "no column '3'"}},
      {"twice", smoker_ + "smoker,no,3\n", {"codes.csv: row 4", "category 'no' of column 'smoker' stands there twice"}},
      {"both ways", smoker_ + "1,maybe,3\n", {"codes.csv: row 4", "by name and by number"}},
      {"no number", "column,category,value\nsmoker,no,zero\n", {"codes.csv: row 2", "zero"}},
      {"not finite", "column,category,value\nsmoker,no,inf\n", {"codes.csv: row 2", "inf"}},
      {"no header", "smoker,no,0\nsmoker,yes,1\n", {"codes.csv", "column, category and value"}},
      {"another column", "column,category,value,n\nsmoker,no,0,7\n", {"codes.csv", "column, category and value"}},
      {"no value", "column,category\nsmoker,no\n", {"codes.csv", "column, category and value"}},
      {"nothing", "column,category,value\n", {"column 'smoker' is 'yes'", "--encode"}},
      {"empty", "", {"codes.csv", "column, category and value"}},
  };
  expect_refused(faults, [&](const std::string& codes) { read("age,smoker,y\n30,yes,2.5\n40,no,3\n", with(codes)); });
  DataSettings nowhere;
  nowhere.encode = folder_ / "nowhere.csv";
  expect_all_in(message_of<UsageError>([&] { read("a,y\n1,2\n", nowhere); }), {"nowhere.csv"});
  nowhere.encode = "-";
  expect_all_in(message_of<DataError>([&] { read("a,y\n1,2\n", nowhere); }), {"'-' is not a regular file"});
  expect_all_in(message_of<DataError>([&] { read("smoker,smoker,y\nyes,no,1\n", with(smoker_)); }),
                {"two columns are called 'smoker'"});
}

TEST_F(Encode, IsForDelimitedText) {
  const DataSettings settings = with(smoker_);
  const std::string sparse = folder_.write("a.svm", "1 2:1\n");
  expect_all_in(message_of<UsageError>([&] { read_all(sparse, settings); }), {"--encode", "not delimited text"});
  DataSettings generated = settings;
  generated.source = "synthetic:linear";
  expect_all_in(message_of<UsageError>([&] { refuse_reading_options(generated); }), {"--encode", "generator"});
}

}  // namespace starling::categories_test
