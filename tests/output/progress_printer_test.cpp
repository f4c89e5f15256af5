#include "output/progress_printer.hpp"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace starling::progress_printer_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string figures = "  loss 0.6931  accuracy 50.00 %  consensus 8.06e+00  mass 4  eps/release 1";

// Before the first round nobody knows how long the others will take.
TEST(ProgressBar, SaysNothingOfTheTimeLeftBeforeARound) {
  EXPECT_THAT(progress_bar({0, 3000, 0, 1e-6, figures}, 200), Not(HasSubstr("left")));
  EXPECT_THAT(progress_bar({40, 3000, 40, 0.5, figures}, 200), Not(HasSubstr("left"))) << "a resumed run";
  EXPECT_THAT(progress_bar({1000, 3000, 0, 10, figures}, 200), HasSubstr("100 rounds/s  20 s left"));
  EXPECT_THAT(progress_bar({1500, 3000, 1000, 10, figures}, 200), HasSubstr("50 rounds/s  30 s left"));
  EXPECT_THAT(progress_bar({1, 601, 0, 9, figures}, 200), HasSubstr("90 min left"));
}

TEST(ProgressBar, IsShorterThanTheTerminalIsWide) {
  for (std::size_t columns = 0; columns <= 250; ++columns) {
    for (const ProgressMoment& moment : {ProgressMoment{0, 3000, 0, 0, figures},
                                         {1234, 3000, 0, 10, figures},
                                         {999'999'999, 1'000'000'000, 0, 1e5, figures}}) {
      const std::string line = progress_bar(moment, columns);
      EXPECT_LT(line.size(), std::max<std::size_t>(columns, 1)) << line;
    }
  }
}

// A narrow bar keeps the most important parts.
TEST(ProgressBar, KeepsRoundsAndTimeLongest) {
  EXPECT_EQ(progress_bar({1500, 3000, 0, 10, figures}, 52), "[####....]  50 %  round 1500/3000  10 s left");
  EXPECT_EQ(progress_bar({1500, 3000, 0, 10, figures}, 60),
            "[####....]  50 %  round 1500/3000  loss 0.6931  10 s left");
  EXPECT_THAT(progress_bar({1500, 3000, 0, 10, figures}, 80),
              StartsWith("[############............]  50 %  round 1500/3000  loss 0.6931"));
  EXPECT_THAT(progress_bar({1500, 3000, 0, 10, figures}, 200), HasSubstr(figures));
}

TEST(ProgressLine, HasFiguresSpeedAndTheTimeLeft) {
  EXPECT_EQ(progress_line({1500, 3000, 1000, 10, "  loss 0.7"}),
            "round      1500/3000  loss 0.7  50 rounds/s  30 s left");
  EXPECT_EQ(progress_line({3000, 3000, 0, 2000, ""}), "round      3000/3000  1.5 rounds/s") << "nothing is left";
  EXPECT_EQ(progress_line({0, 3000, 0, 5, ""}), "round         0/3000");
}

// Gaps grow by half up to the longest.
TEST(LinePace, LeavesGrowingGaps) {
  LinePace pace(1, 2, 5);
  std::vector<int> due;
  for (int tenth = 0; tenth <= 300; ++tenth) {
    if (pace.due(tenth / 10.0)) due.push_back(tenth);
  }
  EXPECT_THAT(due, testing::ElementsAre(10, 30, 60, 105, 155, 205, 255));
}

// Nobody was asked during a long round: one line is due, and not one for each gap.
TEST(LinePace, IsDueOnceAfterAnyTime) {
  LinePace pace(1, 2, 60);
  EXPECT_TRUE(pace.due(1000));
  EXPECT_FALSE(pace.due(1001.9));
  EXPECT_TRUE(pace.due(1002));
}

}  // namespace starling::progress_printer_test
