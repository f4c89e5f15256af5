#include "net/neighbours/neighbours.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::cause_test {

using namespace testing_support;

void round(Neighbours& neighbours, Neighbours::Plan& plan, Round t) {
  Released<Columns> outgoing(declare_public(Columns(4, 1)));
  EXPECT_TRUE(neighbours.begin_round(t));
  neighbours.exchange(t, plan, outgoing);
}

std::string waits_in_vain(Neighbours& neighbours, Neighbours::Plan& plan, Round t) {
  return message_of<FailureError>([&] { round(neighbours, plan, t); });
}

// Rank 1 is silent, rank 2 waits for it, and rank 0, a round ahead, for rank 2. Rank 0 loses its patience first, but it
// is rank 2 that says why, and at once.
TEST(Cause, OfASilenceIsNamedByTheRankNextToIt) {
  const Client me = world().rank();
  Neighbours neighbours(world(), Layout(3, 3), 4);
  const std::vector<Links> own{{0.5, {{(me + 1) % 3, 0.5}}, {{(me + 2) % 3, 0.5}}}};
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  if (me == 0) {
    world().set_watchdog(0.3);
    round(neighbours, plan, 6);
    const std::string message = waits_in_vain(neighbours, plan, 7);
    EXPECT_THAT(message, AllOf(HasSubstr("round 8"), HasSubstr("rank 2")));
    EXPECT_FALSE(world().announce(ExitCode::failure, message));
  } else if (me == 2) {
    const std::string message = waits_in_vain(neighbours, plan, 6);
    EXPECT_THAT(message, AllOf(HasSubstr("round 7"), HasSubstr("rank 1")));
    EXPECT_TRUE(world().announce(ExitCode::failure, message));
  } else {
    EXPECT_THAT(heard(2), testing::UnorderedElementsAre(HasSubstr("rank 0: round 8"), HasSubstr("rank 2: round 7")));
  }
}

}  // namespace starling::cause_test
