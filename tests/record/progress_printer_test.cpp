#include "starling/record/progress_printer.hpp"

#include <gmock/gmock.h>
#include <string>

namespace starling {
namespace {

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

}  // namespace
}  // namespace starling
