#include "starling/protocol/step_lengths.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace starling {
namespace {

struct Lengths {
  double step;
  double power;
  double offset;
  [[nodiscard]] double plain(Round i) const { return step * std::pow(static_cast<double>(i) + offset, -power); }
};

class AnyStepLengths : public testing::TestWithParam<Lengths> {
 protected:
  /// Of the steps first, …, first + count − 1, how many differ from what std::pow gives.
  [[nodiscard]] static std::int64_t different(Round first, Round count) {
    StepLengths lengths(GetParam().step, GetParam().power, GetParam().offset);
    std::int64_t different = 0;
    for (Round i = first; i < first + count; ++i) different += lengths.at(i) != GetParam().plain(i);
    return different;
  }
};

// Through the place from which on powers come from series, and far beyond.
TEST_P(AnyStepLengths, AreThoseOfThePowerToTheBit) {
  EXPECT_EQ(different(1, 400'000), 0);
  EXPECT_EQ(different(1'048'576 - 5000, 10'000), 0);  // where i^{-1/2} passes a power of two
  EXPECT_EQ(different(4'000'000'123, 100'000), 0);
}

TEST_P(AnyStepLengths, MayBeAskedInAnyOrder) {
  StepLengths lengths(GetParam().step, GetParam().power, GetParam().offset);
  for (const Round i : {70'000, 1, 511, 512, 70'000, 65'535, 65'536, 1'000'000, 2}) {
    EXPECT_EQ(lengths.at(i), GetParam().plain(i)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, AnyStepLengths,
                         testing::Values(Lengths{1, 0.51, 0}, Lengths{0.8, 0.505, 3}, Lengths{0.3, 0.6, 0.1},
                                         Lengths{1, 0.75, 100'000.3}, Lengths{2, 0.999, 1e9}, Lengths{0.5, 0.5, 0},
                                         Lengths{0.5, 0, 0}, Lengths{1, 1, 7}, Lengths{1, 1.7, 0}));

}  // namespace
}  // namespace starling
