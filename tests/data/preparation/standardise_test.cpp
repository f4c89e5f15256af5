#include <limits>

#include "core/check.hpp"
#include "data/formats/writer.hpp"
#include "data/marking.hpp"
#include "data/reading.hpp"
#include "data/source.hpp"

namespace starling::standardise_test {

using namespace testing_support;

class Standardise : public testing::Test {
 protected:
  DataSettings with(const std::string& constants) const {
    DataSettings settings;
    settings.standardise = folder_.write("constants.csv", constants);
    return settings;
  }

  TemporaryFolder folder_;
  std::string named_ = folder_.write("named.csv", "a,b,y\n1,10,1\n3,30,0\n");
  std::string plain_ = folder_.write("plain.csv", "1,10,1\n3,30,0\n");
};

TEST_F(Standardise, SubtractsTheMeanAndDividesByTheDeviation) {
  const Plains expected{Plain{{-0.5, -5}, {}, 1}, Plain{{0.5, 5}, {}, 0}};
  EXPECT_EQ(read_all(named_, with("feature,mean,sd\nb,20,2\na,2,2\n")), expected);
  EXPECT_EQ(read_all(named_, with("sd;feature;mean\n2;\"b\";20\n2;0;2\n")), expected);
  EXPECT_EQ(read_all(plain_, with("feature,mean,sd\n1,20,2\n0,2,2\n")), expected);
}

TEST_F(Standardise, TakesConstantsWithoutAFile) {
  const auto values = [](const std::string& text) {
    DataSettings settings;
    settings.standardise = text;
    return settings;
  };
  const Plains expected{Plain{{-0.5, -5}, {}, 1}, Plain{{0.5, 5}, {}, 0}};
  EXPECT_EQ(read_all(named_, values("values:2/2,20/2")), expected);
  EXPECT_EQ(read_all(plain_, values("values:2/2,2e1/2")), expected);
  EXPECT_TRUE(constants_files(values("values:2/2,20/2")).empty());
  for (const char* wrong : {"values:", "values:2/2", "values:2/2,20/2,1/1"}) {
    EXPECT_ERROR(DataError, "pairs", read_all(named_, values(wrong))) << wrong;
  }
  for (const char* wrong :
       {"values:2,20/2", "values:2/0,20/2", "values:2/-1,20/2", "values:a/1,20/2", "values:2/2,,"}) {
    EXPECT_ERROR(UsageError, "MEAN/SD", read_all(named_, values(wrong))) << wrong;
  }
}

TEST_F(Standardise, ClipsAndLeavesOutColumns) {
  DataSettings settings;
  settings.standardise = "values:2/0.5/1.5,drop";
  EXPECT_EQ(read_all(named_, settings), (Plains{Plain{{-1.5, 0}, {}, 1}, Plain{{1.5, 0}, {}, 0}}));
  settings.standardise = "values:2/2,20/2,label=1/2/0.25";
  EXPECT_EQ(read_all(named_, settings), (Plains{Plain{{-0.5, -5}, {}, 0}, Plain{{0.5, 5}, {}, -0.25}}));
  for (const char* wrong : {"values:2/0.5/0,drop", "values:2/1/5/5,drop", "values:dropped,drop", "values:2/1/,drop"}) {
    settings.standardise = wrong;
    EXPECT_ERROR(UsageError, "MEAN/SD", read_all(named_, settings)) << wrong;
  }
}

// Constants may have been released: no record may then be refused for its values.
TEST_F(Standardise, BoundsWhatIsBeyondTheRange) {
  constexpr double largest = std::numeric_limits<double>::max();
  const std::string wide = folder_.write("wide.csv", "a,b,y\n1e305,-1.7e308,1.7e308\n-1e305,1e-320,-1e300\n");
  EXPECT_EQ(read_all(wide, with("feature,mean,sd\na,0,1e-6\nb,1.7e308,1\ny,0,1e-9\n")),
            (Plains{Plain{{largest, -largest}, {}, largest}, Plain{{-largest, -1.7e308}, {}, -largest}}));
  DataSettings released;
  released.standardise = "values:0/1e-6,0/1e-320";
  EXPECT_EQ(read_all(wide, released),
            (Plains{Plain{{largest, -largest}, {}, 1.7e308}, Plain{{-largest, 1}, {}, -1e300}}));
}

// Columns that are no features have no constants, and numbers count features.
TEST_F(Standardise, ComposesWithTheOtherReadingOptions) {
  DataSettings settings = with("feature,mean,sd\n0,20,10\n");
  settings.drop = {"a"};
  settings.positive = {1};
  EXPECT_EQ(read_all(named_, settings), (Plains{Plain{{-1}, {}, 1}, Plain{{1}, {}, -1}}));
  settings.ignore = {0};
  EXPECT_EQ(read_all(named_, settings), (Plains{Plain{{-1}, {}, 1}}));
}

// It stays as it is without a line.
TEST_F(Standardise, TakesTheLabelWhereItHasALine) {
  const Plains expected{Plain{{-0.5, -5}, {}, 2}, Plain{{0.5, 5}, {}, 0}};
  EXPECT_EQ(read_all(named_, with("feature,mean,sd\nb,20,2\na,2,2\ny,0,0.5\n")), expected);
  EXPECT_EQ(read_all(plain_, with("feature,mean,sd\nlabel,0,0.5\n1,20,2\n0,2,2\n")), expected);
  DataSettings settings = with("feature,mean,sd\nb,20,2\ny,0,0.5\na,2,4\n");
  settings.label = "a";
  EXPECT_EQ(read_all(named_, settings), (Plains{Plain{{-5, 2}, {}, -0.25}, Plain{{5, 0}, {}, 0.25}}));
  const std::string pair = folder_.write("f.csv", "a,y\n1,10\n3,30\n") + "," + folder_.write("l.csv", "1\n0\n");
  EXPECT_EQ(read_all(pair, with("feature,mean,sd\ny,20,2\na,2,2\nlabel,0,0.5\n")), expected);
}

TEST_F(Standardise, TakesTheLabelOfHdf5) {
  const std::string file = folder_ / "a.h5";
  WriteSettings writing;
  writing.features = 2;
  writing.names = {"a", "b"};
  const auto writer = open_writer(file, writing);
  copy_records(*open_reader(named_, {}), *writer, [] {});
  writer->finish();
  writer->publish();
  EXPECT_EQ(read_all(file, with("feature,mean,sd\nb,20,2\na,2,2\ny,0,0.5\n")),
            (Plains{Plain{{-0.5, -5}, {}, 2}, Plain{{0.5, 5}, {}, 0}}));
  DataSettings settings = with("feature,mean,sd\nb,20,2\na,0,2\n");
  settings.label = "a";
  EXPECT_EQ(read_all(file, settings), (Plains{Plain{{-5}, {}, 0.5}, Plain{{5}, {}, 1.5}}));
}

// A label that is read alone, as partitions look at it, is the same.
TEST_F(Standardise, TakesTheLabelThatIsReadAlone) {
  const auto reader = open_reader(named_, with("feature,mean,sd\nb,20,2\na,2,2\ny,0,0.5\n"));
  Record record;
  ASSERT_TRUE(reader->next_label(record));
  EXPECT_EQ(record.label, 2);
}

TEST_F(Standardise, LeavesClassesAlone) {
  for (const bool positive : {false, true}) {
    DataSettings settings = with("feature,mean,sd\nb,20,2\na,2,2\ny,0,0.5\n");
    (positive ? settings.positive : settings.ignore) = {1};
    expect_all_in(message_of<UsageError>([&] { read_all(named_, settings); }), {"--standardise", "--positive"});
  }
}

TEST_F(Standardise, MarksLeadBack) {
  EXPECT_EQ(expect_marks_lead_back(named_, with("feature,mean,sd\nb,20,2\na,2,2\n")), 2U);
}

TEST_F(Standardise, RefusesTablesThatDoNotFit) {
  const std::vector<testing_support::Fault> faults{
      {"missing", "feature,mean,sd\na,2,2\n", {"constants.csv", "no constants for feature 'b'"}},
      {"unknown", "feature,mean,sd\na,2,2\nb,1,1\nc,1,1\n", {"constants.csv: row 4", "no feature 'c'"}},
      {"label by another name", "feature,mean,sd\na,2,2\nb,1,1\nlabel,1,1\n", {"row 4", "'label'", "the label is 'y'"}},
      {"label twice", "feature,mean,sd\ny,2,2\na,2,2\nb,1,1\ny,1,1\n", {"row 5", "the label 'y' stands there twice"}},
      {"label's sd", "feature,mean,sd\na,2,2\nb,1,1\ny,1,0\n", {"row 4", "sd=0"}},
      {"beyond", "feature,mean,sd\na,2,2\nb,1,1\n2,1,1\n", {"constants.csv: row 4", "no feature '2'"}},
      {"twice", "feature,mean,sd\na,2,2\nb,1,1\n0,1,1\n", {"constants.csv: row 4", "'0' stands there twice"}},
      {"zero", "feature,mean,sd\na,2,0\nb,1,1\n", {"constants.csv: row 2", "sd=0", "must be positive"}},
      {"negative", "feature,mean,sd\na,2,1\nb,1,-3\n", {"constants.csv: row 3", "sd=-3"}},
      {"no number", "feature,mean,sd\na,two,1\nb,1,3\n", {"constants.csv: row 2", "two"}},
      {"not finite", "feature,mean,sd\na,2,inf\nb,1,3\n", {"constants.csv: row 2", "inf"}},
      {"no header", "a,2,2\nb,1,1\n", {"constants.csv", "feature, mean and sd"}},
      {"another column", "feature,mean,sd,n\na,2,2,7\nb,1,1,7\n", {"constants.csv", "feature, mean and sd"}},
      {"no mean", "feature,sd\na,2\nb,1\n", {"constants.csv", "feature, mean and sd"}},
      {"empty", "", {"constants.csv"}},
  };
  expect_refused(faults, [&](const std::string& constants) { read_all(named_, with(constants)); });
  DataSettings nowhere;
  nowhere.standardise = folder_ / "nowhere.csv";
  expect_all_in(message_of<UsageError>([&] { read_all(named_, nowhere); }), {"nowhere.csv"});
}

TEST_F(Standardise, IsForDenseRecordsAndStandsAlone) {
  DataSettings settings = with("feature,mean,sd\n0,2,2\n1,1,1\n");
  const std::string sparse = folder_.write("a.svm", "1 2:1\n");
  expect_all_in(message_of<UsageError>([&] { read_all(sparse, settings); }), {"--standardise", "sparse"});
  settings.scale = 0.5;
  expect_all_in(message_of<UsageError>([&] { read_all(named_, settings); }), {"--scale 0.5", "--standardise"});
}

}  // namespace starling::standardise_test
