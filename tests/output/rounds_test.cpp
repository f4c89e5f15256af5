/// Which rounds are recorded, and what the last figure of a history is.
#include "output/rounds.hpp"

#include "output/directory/history.hpp"
#include "report/summary.hpp"
#include "support/testing.hpp"

namespace starling::rounds_test {

std::vector<Round> due_rounds(std::optional<Round> every, Round last) {
  RecordRounds rounds(every);
  std::vector<Round> due;
  for (Round done = 0; done <= last; ++done) {
    if (rounds.due(done)) due.push_back(done);
  }
  return due;
}

TEST(RecordRounds, GeometricTakesTheFirstElevenThenEachFifteenPercentOn) {
  const std::vector<Round> due = due_rounds(std::nullopt, 1000000);
  ASSERT_GT(due.size(), 11U);
  for (std::size_t i = 0; i <= 10; ++i) EXPECT_EQ(due[i], static_cast<Round>(i));
  for (std::size_t i = 11; i < due.size(); ++i) {
    const Round before = due[i - 1];
    EXPECT_GE(100 * (due[i] - before), 15 * before) << due[i] << " after " << before;
    // Not more than that needs, either: one round less would be too near.
    EXPECT_LT(100 * (due[i] - before - 1), 15 * before) << due[i] << " after " << before;
  }
}

TEST(RecordRounds, GeometricTakesSomeSeventeenPerDecade) {
  const std::vector<Round> due = due_rounds(std::nullopt, 1000000);
  for (Round decade = 100; decade < 1000000; decade *= 10) {
    const auto count = std::count_if(due.begin(), due.end(), [&](Round t) { return t >= decade && t < 10 * decade; });
    EXPECT_GE(count, 15) << decade;
    EXPECT_LE(count, 18) << decade;
  }
}

TEST(RecordRounds, TellWhichIsNext) {
  for (const std::optional<Round> every : {std::optional<Round>(), std::optional<Round>(7)}) {
    RecordRounds rounds(every);
    std::vector<Round> taken;
    while (rounds.next() <= 1000) {
      const Round next = rounds.next();
      taken.push_back(rounds.take());
      EXPECT_EQ(taken.back(), next);
    }
    EXPECT_EQ(taken, due_rounds(every, 1000));
  }
}

TEST(RecordRounds, EveryTakesMultiples) {
  EXPECT_EQ(due_rounds(1, 4), (std::vector<Round>{0, 1, 2, 3, 4}));
  EXPECT_EQ(due_rounds(7, 22), (std::vector<Round>{0, 7, 14, 21}));
  EXPECT_EQ(due_rounds(100, 50), (std::vector<Round>{0}));
}

std::vector<NetworkFigures> history_of(const std::vector<std::pair<Round, double>>& lines) {
  std::vector<NetworkFigures> history(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    history[i].done = lines[i].first;
    history[i].loss = lines[i].second;
  }
  return history;
}

constexpr double unknown = NetworkFigures::unknown;

// Lines count by the rounds between them: (4·3 + 6·1)/10 over rounds 91 to 100.
TEST(LastLoss, IsTheMeanOverTheLastTenth) {
  EXPECT_EQ(last_loss(history_of({{0, unknown}, {50, 9}, {90, 8}, {94, 3}, {100, 1}}), 100), 1.8);
}

// A line that begins before the last tenth counts whole: finer is not known.
TEST(LastLoss, TakesTheLineThatReachesIn) {
  EXPECT_EQ(last_loss(history_of({{0, unknown}, {80, 8}, {100, 2}}), 100), 2);
  EXPECT_EQ(last_loss(history_of({{0, unknown}, {85, 8}, {95, 4}, {100, 1}}), 100), 3);
}

TEST(LastLoss, LeavesUnknownLinesOut) {
  EXPECT_EQ(last_loss(history_of({{0, unknown}, {90, 5}, {95, unknown}, {100, 2}}), 100), 2);
  EXPECT_EQ(last_loss(history_of({{0, unknown}, {50, 1}, {100, unknown}}), 100), std::nullopt);
  EXPECT_EQ(last_loss(history_of({{0, unknown}}), 0), std::nullopt);
  EXPECT_EQ(last_loss({}, 100), std::nullopt);
}

}  // namespace starling::rounds_test
