#include "net/milestones.hpp"

#include <gtest/gtest.h>

#include "net/agreement.hpp"
#include "support/mpi_testing.hpp"

namespace starling::milestones_test {

using testing_support::world;

std::vector<int> all_ranks() {
  std::vector<int> ranks;
  for (int r = 0; r < world().size(); ++r) ranks.push_back(r);
  return ranks;
}

TEST(Milestones, ArePassedByAllWhenTheLastHas) {
  Agreement agreement(world());
  Milestones milestones(world(), all_ranks());
  EXPECT_EQ(milestones.passed_by_all(), 0);
  const bool last = world().rank() == world().size() - 1;
  if (!last) {
    for (int i = 0; i < 3; ++i) milestones.pass();
    EXPECT_EQ(milestones.passed_by_all(), 0);  // the last one is behind until the barrier
  }
  agreement.barrier();
  if (last) {
    milestones.pass();
    milestones.pass();
  }
  const auto wait_for = [&](std::int64_t count) {
    while (milestones.passed_by_all() < count) {
    }
    return milestones.passed_by_all();
  };
  EXPECT_EQ(wait_for(2), 2);
  agreement.barrier();
  if (last) milestones.pass();
  milestones.settle();
  EXPECT_EQ(milestones.passed_by_all(), 3);
}

TEST(Milestones, DoNotWaitForRanksThatPassNone) {
  Agreement(world()).barrier();  // a word of this object must not come to the one before, on a slower rank
  std::vector<int> ranks = all_ranks();
  ranks.pop_back();
  Milestones milestones(world(), ranks);
  if (world().rank() + 1 == world().size()) return;
  milestones.pass();
  milestones.settle();
  EXPECT_EQ(milestones.passed_by_all(), 1);
}

}  // namespace starling::milestones_test
