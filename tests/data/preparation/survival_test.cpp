#include "data/preparation/survival.hpp"

#include "core/check.hpp"
#include "data/reading.hpp"

namespace starling::survival_test {

using namespace testing_support;
using testing::HasSubstr;

class Survival : public testing::Test {
 protected:
  std::unique_ptr<RecordReader> open(const Vector& ends = {1, 2, 4}) {
    ReadSettings settings;
    settings.label = "died";
    return make_survival(open_reader(path_, settings), {"days", ends}, counts_);
  }
  void write(const std::string& rows) { path_ = folder_.write("a.csv", "age,days,died\n" + rows); }

  TemporaryFolder folder_;
  std::string path_;
  SurvivalCounts counts_;
};

// Intervals are closed above: an event at 2 is in (1, 2], and who is censored at 2 has lived through it.
TEST_F(Survival, HasARecordForEachIntervalAtRisk) {
  write("50,2,1\n60,2,0\n");
  const auto reader = open();
  EXPECT_EQ(reader->names(), (std::vector<std::string>{"person", "age", "days:1..2", "days:2..4"}));
  EXPECT_EQ(reader->features(), 4U);
  EXPECT_EQ(reader->records(), std::nullopt);
  EXPECT_EQ(read_all(*reader),
            (Plains{{{0, 50, 0, 0}, {}, 0}, {{0, 50, 1, 0}, {}, 1}, {{1, 60, 0, 0}, {}, 0}, {{1, 60, 1, 0}, {}, 0}}));
  EXPECT_EQ(counts_.persons, 2);
  EXPECT_EQ(counts_.events, 1);
  EXPECT_EQ(counts_.most_records, 2);
}

// An event within an interval counts in it; who is censored within one has lived through it if half of it was seen.
TEST_F(Survival, CensorsAtTheMiddleOfAnInterval) {
  write("1,1.5,1\n2,1.4,0\n3,0.4,0\n4,9,1\n5,0,1\n6,3,0\n7,0.5,0\n");
  const Plains records = read_all(*open());
  EXPECT_EQ(records, (Plains{{{0, 1, 0, 0}, {}, 0},
                             {{0, 1, 1, 0}, {}, 1},
                             {{1, 2, 0, 0}, {}, 0},
                             {{3, 4, 0, 0}, {}, 0},
                             {{3, 4, 1, 0}, {}, 0},
                             {{3, 4, 0, 1}, {}, 0},
                             {{4, 5, 0, 0}, {}, 1},
                             {{5, 6, 0, 0}, {}, 0},
                             {{5, 6, 1, 0}, {}, 0},
                             {{5, 6, 0, 1}, {}, 0},
                             {{6, 7, 0, 0}, {}, 0}}));
  EXPECT_EQ(counts_.unseen, 1);
  EXPECT_EQ(counts_.later, 1);
  EXPECT_EQ(counts_.events, 2);
  EXPECT_EQ(counts_.most_records, 3);
}

TEST_F(Survival, RefusesWhatIsNoTime) {
  write("1,-0.5,1\n");
  EXPECT_THAT(message_of<RecordError>([&] { return read_all(*open()); }), HasSubstr("the time -0.5 is below 0"));
  write("1,1,3\n");
  EXPECT_THAT(message_of<RecordError>([&] { return read_all(*open()); }), HasSubstr("the event 3 is neither 0 nor 1"));
  write("1,1,1\n");
  EXPECT_THAT(message_of<UsageError>([&] { return open({}); }), HasSubstr("ascending ends above 0"));
  EXPECT_THAT(message_of<UsageError>([&] { return open({0, 1}); }), HasSubstr("ascending ends above 0"));
  EXPECT_THAT(message_of<UsageError>([&] { return open({1, 1}); }), HasSubstr("ends of intervals must ascend"));
  path_ = folder_.write("b.csv", "age,weeks,died\n1,2,1\n");
  EXPECT_THAT(message_of<UsageError>([&] { return open(); }), HasSubstr("no column has this name"));
}

TEST_F(Survival, RefusesASecondColumnOfPersons) {
  path_ = folder_.write("a.csv", "person,days,died\n7,2,1\n");
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(open()); }),
              HasSubstr("Leave the column out (--drop person)"));
}

}  // namespace starling::survival_test
