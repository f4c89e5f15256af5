#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <ctime>
#include <gmock/gmock.h>

#include "starling/net/agreement.hpp"
#include "starling/net/neighbours/neighbours.hpp"

namespace starling::silence_test {

using testing::HasSubstr;
using testing_support::world;

// Rank 1 enters no round: rank 0's wait ends by its watchdog and names round and peer.
TEST(Silence, OfAPeerEndsTheWaitAndNamesIt) {
  Neighbours neighbours(world(), Layout(2, 2), 4);
  if (world().rank() == 0) {
    world().set_watchdog(0.5);
    const std::vector<Links> own{{0.5, {{1, 0.5}}, {{1, 0.5}}}};
    Released<Columns> outgoing(declare_public(Columns(4, 1)));
    Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
    EXPECT_THAT(testing_support::message_of<FailureError>([&] { neighbours.exchange(41, plan, outgoing); }),
                testing::AllOf(HasSubstr("round 42"), HasSubstr("rank 1"), HasSubstr("(nothing came for 0.5")));
  }
  Agreement(world()).barrier();
}

// Waits leave the processor to others: this one takes half a second, but less than half of that of the processor.
TEST(Silence, OfAPeerCostsLittleProcessorTime) {
  const std::clock_t start = std::clock();
  Neighbours neighbours(world(), Layout(2, 2), 4);
  if (world().rank() == 0) {
    world().set_watchdog(0.5);
    const std::vector<Links> own{{0.5, {{1, 0.5}}, {{1, 0.5}}}};
    Released<Columns> outgoing(declare_public(Columns(4, 1)));
    Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
    EXPECT_THROW(neighbours.exchange(41, plan, outgoing), FailureError);
  }
  Agreement(world()).barrier();
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 4);
}

}  // namespace starling::silence_test
