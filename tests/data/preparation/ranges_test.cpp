/// Columns mapped from public ranges (--ranges).
#include "core/check.hpp"
#include "data/marking.hpp"
#include "data/reading.hpp"
#include "data/source.hpp"

namespace starling::ranges_test {

using namespace testing_support;

class Ranges : public testing::Test {
 protected:
  DataSettings with(const std::string& ranges) const {
    DataSettings settings;
    settings.ranges = folder_.write("ranges.csv", ranges);
    return settings;
  }

  TemporaryFolder folder_;
  std::string named_ = folder_.write("named.csv", "a,b,y\n1,10,1\n3,30,0\n9,-1e308,2\n");
};

TEST_F(Ranges, MapToMinusOneAndOneAndClip) {
  EXPECT_EQ(read_all(named_, with("feature,low,high\nb,0,20\n0,1,5\n")),
            (Plains{Plain{{-1, 0}, {}, 1}, Plain{{0, 1}, {}, 0}, Plain{{1, -1}, {}, 2}}));
  EXPECT_EQ(expect_marks_lead_back(named_, with("feature,low,high\nb,0,20\na,1,5\n")), 3U);
}

TEST_F(Ranges, NeverGoBeyondOne) {
  const Plains read = read_all(named_, with("feature,low,high\nb,-1.7e308,1.7e308\na,2.9,3\n"));
  EXPECT_EQ(read[0].values, (Vector{-1, 10 / 1.7e308}));
  EXPECT_NEAR(read[1].values[0], 1, 1e-12);
  EXPECT_LE(read[1].values[0], 1);
  EXPECT_EQ(read[2].values[0], 1);
}

// It stays as it is without a line.
TEST_F(Ranges, TakeTheLabelWhereItHasALine) {
  const DataSettings settings = with("feature,low,high\nb,0,20\na,1,5\ny,0,1\n");
  EXPECT_EQ(read_all(named_, settings), (Plains{Plain{{-1, 0}, {}, 1}, Plain{{0, 1}, {}, -1}, Plain{{1, -1}, {}, 1}}));
  const auto reader = open_reader(named_, settings);
  Record record;
  ASSERT_TRUE(reader->next_label(record));
  EXPECT_EQ(record.label, 1);
  DataSettings classes = settings;
  classes.positive = {1};
  expect_all_in(message_of<UsageError>([&] { read_all(named_, classes); }), {"--ranges", "--positive"});
}

TEST_F(Ranges, RefuseTablesThatDoNotFit) {
  std::string wide = "f0";
  for (int j = 1; j < 30; ++j) wide += fmt::format(",f{}", j);
  const std::string many = folder_.write("wide.csv", wide + ",y\n");
  const std::vector<testing_support::Fault> faults{
      {"missing", "feature,low,high\na,2,3\n", {"ranges.csv", "no constants for feature 'b'", "low -1 and high 1"}},
      {"unknown", "feature,low,high\na,2,3\nb,1,2\nc,1,2\n", {"ranges.csv: row 4", "no feature 'c'"}},
      {"wildcard", "feature,low,high\n*,2,3\n", {"ranges.csv: row 2", "no feature '*'"}},
      {"twice", "feature,low,high\na,2,3\nb,1,2\n0,1,2\n", {"ranges.csv: row 4", "'0' stands there twice"}},
      {"equal",
       "feature,low,high\na,2,2\nb,1,3\n",
       {"ranges.csv: row 2", "low=2 and high=2", "low must be below high"}},
      {"turned round", "feature,low,high\na,2,3\nb,3,1\n", {"ranges.csv: row 3", "low=3 and high=1"}},
      {"label", "feature,low,high\na,2,3\nb,1,3\ny,1,1\n", {"ranges.csv: row 4", "low=1 and high=1"}},
      {"no number", "feature,low,high\na,two,3\nb,1,3\n", {"ranges.csv: row 2", "two"}},
      {"no bound", "feature,low,high\na,,3\nb,1,3\n", {"ranges.csv: row 2", "column 'low' is empty"}},
      {"not finite", "feature,low,high\na,2,inf\nb,1,3\n", {"ranges.csv: row 2", "inf"}},
      {"no header", "a,2,3\nb,1,3\n", {"ranges.csv", "feature, low and high"}},
      {"of standardise", "feature,mean,sd\na,2,3\nb,1,3\n", {"ranges.csv", "feature, low and high", "--ranges"}},
      {"empty", "", {"ranges.csv"}},
  };
  expect_refused(faults, [&](const std::string& ranges) { read_all(named_, with(ranges)); });
  expect_all_in(message_of<DataError>([&] { read_all(many, with("feature,low,high\nf0,0,1\n")); }),
                {"'f1', 'f2'", "'f20' and 9 more"});
  DataSettings nowhere;
  nowhere.ranges = folder_ / "nowhere.csv";
  expect_all_in(message_of<UsageError>([&] { read_all(named_, nowhere); }), {"nowhere.csv"});
}

TEST_F(Ranges, AreForDenseRecordsAndStandAlone) {
  DataSettings settings = with("feature,low,high\n0,2,3\n1,1,2\n");
  const std::string sparse = folder_.write("a.svm", "1 2:1\n");
  expect_all_in(message_of<UsageError>([&] { read_all(sparse, settings); }), {"--ranges", "sparse"});
  settings.scale = 0.5;
  expect_all_in(message_of<UsageError>([&] { read_all(named_, settings); }), {"--scale 0.5", "--ranges"});
  settings.scale = 1;
  settings.standardise = settings.ranges;
  expect_all_in(message_of<UsageError>([&] { read_all(named_, settings); }), {"--ranges and --standardise"});
}

}  // namespace starling::ranges_test
