#include "protocol/step_schedule.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace starling::step_schedule_test {

class StepSchedules : public testing::TestWithParam<StepSchedule> {};

TEST_P(StepSchedules, FallByThePowerOfTheStep) {
  const StepSchedule& schedule = GetParam();
  for (const Round t : {0, 1, 7, 1000, 1'000'000}) {
    const double place = static_cast<double>(t + 1) + schedule.step_offset;
    const double expected = schedule.step * std::exp(-schedule.step_power * std::log(place));
    EXPECT_NEAR(schedule.step_at(t), expected, 1e-13 * expected) << t;
    EXPECT_NEAR(schedule.power_step_at(t), expected, 1e-13 * expected) << t;
  }
}

TEST_P(StepSchedules, SumsAreThoseOfAllSteps) {
  double sum = 0;
  for (Round t = 1000; t < 50'000; ++t) sum += GetParam().step_at(t);
  EXPECT_NEAR(GetParam().steps_between(1000, 50'000), sum, 1e-6 * sum);
}

INSTANTIATE_TEST_SUITE_P(Settings, StepSchedules,
                         testing::Values(StepSchedule{1, 0.5, 0}, StepSchedule{0.8, 0.51, 3}, StepSchedule{0.5, 0, 0},
                                         StepSchedule{1, 1, 7}, StepSchedule{2, 3, 1000}));

TEST(StepSchedule, MayFallToZeroAlongALine) {
  StepSchedule schedule{2, 0.5, 0};
  schedule.zero_at = 1000;
  EXPECT_EQ(schedule.step_at(0), 2);
  EXPECT_EQ(schedule.step_at(250), 1.5);
  EXPECT_EQ(schedule.step_at(999), 0.002);
  EXPECT_EQ(schedule.step_at(2000), 0);
  double sum = 0;
  for (Round t = 100; t < 900; ++t) sum += schedule.step_at(t);
  EXPECT_NEAR(schedule.steps_between(100, 900), sum, 1e-9);
  EXPECT_NEAR(schedule.steps_between(0, 5000), 1001, 1e-9);
  EXPECT_EQ(schedule.steps_between(1000, 5000), 0);
}

}  // namespace starling::step_schedule_test
