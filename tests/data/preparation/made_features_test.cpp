/// Missing values (--missing) and categories as features (--encode onehot:).
#include <limits>
#include <memory>

#include "core/check.hpp"
#include "data/constants.hpp"
#include "data/generators/synthetic.hpp"
#include "data/marking.hpp"
#include "data/reading.hpp"
#include "data/source.hpp"
#include "hdf5/file.hpp"

namespace starling::made_features_test {

using Missing = ReadSettings::Missing;
using namespace testing_support;

class MadeFeatures : public testing::Test {
 protected:
  DataSettings with(Missing missing) const {
    DataSettings settings;
    settings.missing = missing;
    if (missing == Missing::constant) settings.missing_constants = constants_;
    return settings;
  }
  DataSettings one_hot(const std::string& table) const {
    DataSettings settings;
    settings.encode = folder_.write("codes.csv", table);
    settings.encoding = ReadSettings::Encoding::one_hot;
    return settings;
  }
  Plains read(const std::string& text, const DataSettings& settings) const {
    return read_all(folder_.write("x.csv", text), settings);
  }
  std::vector<std::string> names(const std::string& text, const DataSettings& settings) const {
    return open_reader(folder_.write("x.csv", text), settings)->names();
  }

  TemporaryFolder folder_;
  const std::string constants_ = folder_.write("constants.csv", "feature,value\na,7\nb,8\n");
  const std::string gaps_ = "a,b,y\n1,,1\n?,20,0\nNaN,NA,1\n";
  const std::string colours_ = "column,category,value\nc,red,5\nc,blue,6\n";
};

TEST_F(MadeFeatures, MissingValuesBecomeWhatTheRuleSays) {
  EXPECT_EQ(read(gaps_, with(Missing::zero)),
            (Plains{Plain{{1, 0}, {}, 1}, Plain{{0, 20}, {}, 0}, Plain{{0, 0}, {}, 1}}));
  EXPECT_EQ(read(gaps_, with(Missing::constant)),
            (Plains{Plain{{1, 8}, {}, 1}, Plain{{7, 20}, {}, 0}, Plain{{7, 8}, {}, 1}}));
  EXPECT_EQ(read(gaps_, with(Missing::indicator)),
            (Plains{Plain{{1, 0, 0, 1}, {}, 1}, Plain{{0, 1, 20, 0}, {}, 0}, Plain{{0, 1, 0, 1}, {}, 1}}));
  EXPECT_EQ(names(gaps_, with(Missing::indicator)), (std::vector<std::string>{"a", "a.missing", "b", "b.missing"}));
  EXPECT_EQ(names(gaps_, with(Missing::zero)), (std::vector<std::string>{"a", "b"}));
}

// A constant is in the source's units; 0 is the mean.
TEST_F(MadeFeatures, MissingValuesAreFilledInBeforeOrAfterScaling) {
  for (const auto& [missing, expected] : std::vector<std::pair<Missing, Plain>>{
           {Missing::zero, {{0, -1}, {}, 0}}, {Missing::constant, {{2.5, -1}, {}, 0}}}) {
    DataSettings settings = with(missing);
    settings.standardise = folder_.write("s.csv", "feature,mean,sd\na,2,2\nb,30,10\n");
    EXPECT_EQ(read(gaps_, settings)[1], expected);
  }
}

TEST_F(MadeFeatures, MissingLabelsAreRefusedUnderEveryRule) {
  for (const Missing missing : {Missing::refuse, Missing::zero, Missing::indicator, Missing::constant}) {
    for (const std::string label : {"", "NA", "nan"}) {
      expect_all_in(message_of<DataError>([&] { read("a,b,y\n1,2,1\n1,2," + label + "\n", with(missing)); }),
                    {"x.csv: row 3", "column 'y'"});
    }
  }
}

TEST_F(MadeFeatures, InfinityIsNotMissing) {
  expect_all_in(message_of<DataError>([&] { read("a,b,y\n1,inf,1\n", with(Missing::zero)); }), {"row 2", "not finite"});
}

TEST_F(MadeFeatures, MissingValuesOfHdf5AreNaN) {
  const std::string file = folder_ / "a.h5";
  {
    const hdf5::File written(file, hdf5::File::Mode::create);
    written.write("/x", {1, 2}, Vector{1, std::numeric_limits<double>::quiet_NaN()});
    written.write("/y", {1}, Vector{1});
  }
  EXPECT_EQ(read_all(file, with(Missing::indicator)), (Plains{Plain{{1, 0, 0, 1}, {}, 1}}));
  DataSettings constant = with(Missing::constant);
  constant.missing_constants = folder_.write("places.csv", "feature,value\n0,7\n1,8\n");
  EXPECT_EQ(read_all(file, constant), (Plains{Plain{{1, 8}, {}, 1}}));
  expect_all_in(message_of<DataError>([&] { read_all(file); }), {"record 1", "--missing"});
}

TEST_F(MadeFeatures, CategoriesBecomeFeatures) {
  const DataSettings settings = one_hot(colours_ + "y,yes,1\ny,no,0\n");
  const std::string text = "a,c,y\n1,red,yes\n2,blue,no\n";
  EXPECT_EQ(read(text, settings), (Plains{Plain{{1, 0, 1}, {}, 1}, Plain{{2, 1, 0}, {}, 0}}));
  EXPECT_EQ(names(text, settings), (std::vector<std::string>{"a", "c=blue", "c=red"}));
  EXPECT_EQ(expect_marks_lead_back(folder_ / "x.csv", settings), 2U);
}

TEST_F(MadeFeatures, AStarTakesOtherTextsButNothingMissing) {
  const DataSettings settings = one_hot(colours_ + "c,*,0\n");
  EXPECT_EQ(read("c,y\ngreen,1\nred,0\n*,1\n", settings),
            (Plains{Plain{{1, 0, 0}, {}, 1}, Plain{{0, 0, 1}, {}, 0}, Plain{{1, 0, 0}, {}, 1}}));
  expect_all_in(message_of<DataError>([&] { read("c,y\n,1\n", settings); }), {"row 2", "a missing value", "--missing"});
  expect_all_in(message_of<DataError>([&] { read("c,y\ngreen,1\n", one_hot(colours_)); }), {"'green'", "never seen"});
}

TEST_F(MadeFeatures, AMissingTextHasNoCategory) {
  DataSettings settings = one_hot(colours_);
  settings.missing = Missing::indicator;
  EXPECT_EQ(read("c,y\n,1\nred,0\n", settings), (Plains{Plain{{0, 0, 1}, {}, 1}, Plain{{0, 1, 0}, {}, 0}}));
  settings = one_hot(colours_ + "c,,7\n");
  settings.missing = Missing::indicator;
  EXPECT_EQ(read("c,y\n,1\n", settings), (Plains{Plain{{1, 0, 0, 0}, {}, 1}})) << "a category of its own";
  settings = one_hot(colours_);
  settings.missing = Missing::constant;
  settings.missing_constants = folder_.write("m.csv", "feature,value\na,1\n");
  expect_all_in(message_of<DataError>([&] { read("a,c,y\n1,,1\n", settings); }), {"column 'c'", "Add it there"});
  EXPECT_EQ(read("a,c,y\n,red,1\n", settings), (Plains{Plain{{1, 0, 1}, {}, 1}}));
}

TEST_F(MadeFeatures, NumbersOfCategoriesMayBeMissing) {
  DataSettings settings = one_hot(colours_);
  settings.encoding = ReadSettings::Encoding::numbers;
  settings.missing = Missing::zero;
  EXPECT_EQ(read("c,y\n,1\nred,0\n", settings), (Plains{Plain{{0}, {}, 1}, Plain{{5}, {}, 0}}));
}

// Columns with categories have no lines in tables of numbers, and clipping leaves them alone.
TEST_F(MadeFeatures, OneHotColumnsAreNotScaled) {
  DataSettings settings = one_hot(colours_ + "c,*,0\n");
  settings.ranges = folder_.write("r.csv", "feature,low,high\na,0,10\n");
  EXPECT_EQ(read("a,c,y\n10,red,1\n", settings), (Plains{Plain{{1, 0, 0, 1}, {}, 1}}));
  settings.ranges = folder_.write("r.csv", "feature,low,high\na,0,10\nc,0,1\n");
  expect_all_in(message_of<DataError>([&] { read("a,c,y\n10,red,1\n", settings); }), {"r.csv: row 3", "'c'", "onehot"});
}

// The constants of a model prepare other records in the same way, whatever the order of their columns.
TEST_F(MadeFeatures, ApplyAsAModelHasThem) {
  DataSettings settings = one_hot(colours_ + "d,x,1\nd,z,2\n");
  settings.missing = Missing::indicator;
  settings.ranges = folder_.write("r.csv", "feature,low,high\na,0,10\n");
  const std::string learned = folder_.write("l.csv", "c,a,d,y\nred,5,x,1\n");
  DataSettings model;
  model.constants = std::make_shared<PublicConstants>(open_reader(learned, settings)->constants());
  EXPECT_EQ(model.constants->columns, (std::vector<std::string>{"c", "a", "d"}));
  const auto expected = read_all(folder_.write("m.csv", "c,a,d,y\nblue,20,z,1\n,NA,x,0\n"), settings);
  EXPECT_EQ(expected[0], (Plain{{1, 0, 0, 1, 0, 0, 1, 0}, {}, 1}));
  EXPECT_EQ(read("other,d,y,a,c\n3,z,1,20,blue\n3,x,0,NA,\n", model), expected);
  EXPECT_EQ(names("d,y,a,c\nz,1,20,blue\n", model), model.constants->feature_names());
}

TEST_F(MadeFeatures, AreForDenseFiles) {
  const std::string sparse = folder_.write("a.svm", "1 2:1\n");
  expect_all_in(message_of<UsageError>([&] { read_all(sparse, with(Missing::zero)); }), {"--missing", "sparse"});
  DataSettings generated = with(Missing::zero);
  generated.source = "synthetic:linear";
  expect_all_in(message_of<UsageError>([&] { refuse_reading_options(generated); }), {"--missing", "generator"});
}

TEST_F(MadeFeatures, RefuseTablesOfConstantsThatDoNotFit) {
  const std::vector<testing_support::Fault> faults{
      {"missing", "feature,value\na,2\n", {"m.csv", "no constants for feature 'b'"}},
      {"unknown", "feature,value\na,2\nb,1\nc,1\n", {"m.csv: row 4", "no feature 'c'"}},
      {"label", "feature,value\na,2\nb,1\ny,1\n", {"m.csv: row 4", "a missing label is always refused"}},
      {"twice", "feature,value\na,2\nb,1\n1,1\n", {"m.csv: row 4", "'1' stands there twice"}},
      {"no number", "feature,value\na,two\nb,1\n", {"m.csv: row 2", "two"}},
      {"another column", "feature,value,n\na,2,3\nb,1,3\n", {"m.csv", "feature and value"}},
      {"no header", "a,2\nb,1\n", {"m.csv", "feature and value"}},
      {"empty", "", {"m.csv"}},
  };
  expect_refused(faults, [&](const std::string& table) {
    DataSettings settings = with(Missing::constant);
    settings.missing_constants = folder_.write("m.csv", table);
    read(gaps_, settings);
  });
}

}  // namespace starling::made_features_test
