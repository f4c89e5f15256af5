#include "data/preparation/window.hpp"

#include <cmath>

#include "core/check.hpp"
#include "data/marking.hpp"
#include "data/reading.hpp"

namespace starling::window_test {

using namespace testing_support;

class Windows : public testing::Test {
 protected:
  std::unique_ptr<RecordReader> open(const WindowSettings& settings) {
    return make_windows(open_reader(path_, {}), settings, counts_);
  }
  /// Labels and first means of all windows.
  std::vector<std::pair<double, double>> kept(const WindowSettings& settings) {
    counts_ = {};
    std::vector<std::pair<double, double>> result;
    for (const Plain& record : read_all(*open(settings))) result.emplace_back(record.label, record.values[0]);
    return result;
  }
  void write(const std::string& text) { path_ = folder_.write("a.csv", text); }

  TemporaryFolder folder_;
  std::string path_;
  WindowCounts counts_;
};

using Kept = std::vector<std::pair<double, double>>;

TEST_F(Windows, HoldMeanAndPopulationDeviation) {
  write("up,flat,y\n1,0.1,3\n2,0.1,3\n3,0.1,3\n6,0.1,3\n");
  const auto reader = open({.length = 4, .step = 4, .ignore = {}, .positive = {}});
  EXPECT_EQ(reader->features(), 4U);
  EXPECT_FALSE(reader->sparse());
  EXPECT_EQ(reader->records(), std::nullopt);
  EXPECT_EQ(reader->names(), (std::vector<std::string>{"up_mean", "up_sd", "flat_mean", "flat_sd"}));
  const Plains records = read_all(*reader);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].label, 3);
  // ((1 − 3)² + (2 − 3)² + 0 + (6 − 3)²)/4 = 3.5; a constant keeps its bits.
  EXPECT_EQ(records[0].values, (Vector{3, std::sqrt(3.5), 0.1, 0}));
  EXPECT_EQ(counts_.kept, 1);
}

TEST_F(Windows, OfFeaturesWithoutNamesAreNumbered) {
  write("1,2,0\n1,2,0\n");
  EXPECT_EQ(open({.length = 2, .step = 2, .ignore = {}, .positive = {}})->names(),
            (std::vector<std::string>{"x0_mean", "x0_sd", "x1_mean", "x1_sd"}));
}

TEST_F(Windows, OfSeveralLabelsAndTheLastOneAreDropped) {
  write("x,y\n0,1\n1,1\n2,1\n3,2\n4,2\n5,2\n6,1\n");
  EXPECT_EQ(kept({.length = 2, .step = 2, .ignore = {}, .positive = {}}), (Kept{{1, 0.5}, {2, 4.5}}));
  EXPECT_EQ(counts_.mixed, 1);
  EXPECT_EQ(counts_.incomplete, 1);
  EXPECT_EQ(counts_.ignored, 0);
  EXPECT_EQ(kept({.length = 2, .step = 1, .ignore = {}, .positive = {}}),
            (Kept{{1, 0.5}, {1, 1.5}, {2, 3.5}, {2, 4.5}}));
  EXPECT_EQ(counts_.mixed, 2);
  EXPECT_EQ(counts_.incomplete, 0);
  EXPECT_EQ(kept({.length = 3, .step = 2, .ignore = {}, .positive = {}}), (Kept{{1, 1}}));
  EXPECT_EQ(counts_.mixed, 2);
  EXPECT_EQ(kept({.length = 8, .step = 8, .ignore = {}, .positive = {}}), Kept{});
  EXPECT_EQ(counts_.incomplete, 1);
}

// What counts is the label that a run would see, and a record that it would not see leaves a gap.
TEST_F(Windows, AreJudgedByTheMappedLabelAndBrokenByIgnoredRecords) {
  write("x,y\n0,4\n1,5\n2,1\n3,0\n4,0\n5,5\n6,3\n7,1\n");
  EXPECT_EQ(kept({.length = 2, .step = 2, .ignore = {0}, .positive = {4, 5}}), (Kept{{1, 0.5}, {-1, 6.5}}));
  EXPECT_EQ(counts_.ignored, 2);
  EXPECT_EQ(counts_.mixed, 0);
}

TEST_F(Windows, MarksLeadBack) {
  std::string text = "x,y\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{}\n", i * i, i / 7 % 2);
  write(text);
  for (const std::size_t step : {1U, 2U, 3U}) {
    const WindowSettings settings{.length = 3, .step = step, .ignore = {}, .positive = {}};
    const auto first = open(settings);
    const auto marked = read_marked(*first);
    EXPECT_GT(marked.size(), 8U);
    const auto fresh = open(settings);
    for (RecordReader* reader : {first.get(), fresh.get()}) {
      for (std::size_t k = 0; k < marked.size(); ++k) {
        const std::size_t i = k * 7 % marked.size();
        reader->seek(marked[i].mark);
        EXPECT_EQ(read_one(*reader), marked[i].read) << step << " " << i;
        if (i + 1 < marked.size()) {
          EXPECT_EQ(read_one(*reader), marked[i + 1].read) << step << " " << i;
        }
      }
    }
  }
}

TEST_F(Windows, SayWhereTheyStand) {
  write("x,y\n1e308,1\n-1e308,1\n1,1\n1,1\n");
  const auto reader = open({.length = 2, .step = 2, .ignore = {}, .positive = {}});
  Record record;
  expect_all_in(message_of<DataError>([&] { return reader->next(record); }),
                {"a.csv: row 3, the last of a window of 2 records", "feature 'x'", "double precision"});
}

TEST_F(Windows, RefuseWhatTheyCannotDo) {
  write("x,y\n1,1\n2,1\n");
  const auto refused = [&](std::size_t length, std::size_t step) {
    return message_of<UsageError>([&] { open({.length = length, .step = step, .ignore = {}, .positive = {}}); });
  };
  expect_all_in(refused(1, 1), {"--window 1"});
  expect_all_in(refused(4, 5), {"--window-step 5", "1 to 4"});
  expect_all_in(refused(4, 0), {"--window-step 0"});
  expect_all_in(message_of<UsageError>([&] { open({.length = 2, .step = 1, .ignore = {1}, .positive = {1}}); }),
                {"label 1", "--positive", "--ignore"});
  path_ = folder_.write("a.svm", "1 2:1\n1 2:1\n");
  expect_all_in(refused(2, 2), {"sparse"});
}

}  // namespace starling::window_test
