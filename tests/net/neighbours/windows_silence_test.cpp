#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::windows_silence_test {

using namespace testing_support;

// Rank 1 enters no round: rank 0's wait for its vectors ends by the watchdog and names round and peer.
TEST(Silence, OfAWriterEndsTheWaitAndNamesIt) {
  Neighbours neighbours(world(), Layout(2, 2), 4, ExchangeWay::windows);
  if (world().rank() == 0) {
    world().set_watchdog(0.5);
    const std::vector<Links> own{{0.5, {{1, 0.5}}, {{1, 0.5}}}};
    Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
    EXPECT_THAT(
        message_of<FailureError>([&] { neighbours.exchange(41, plan, neighbours.outgoing(41, plan)); }),
        AllOf(HasSubstr("round 42: waiting for a message from rank 1 (client 1)"), HasSubstr("nothing came for ")));
  }
  Agreement(world()).barrier();
}

// The same for a wait until it has read, which begins when both of the writer's blocks are full.
TEST(Silence, OfAReaderEndsTheWaitAndNamesIt) {
  Neighbours neighbours(world(), Layout(2, 2), 4, ExchangeWay::windows);
  if (world().rank() == 0) {
    world().set_watchdog(0.5);
    const std::vector<Links> own{{0.5, {{1, 0.5}}, {}}};
    Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
    for (const Round t : {7, 8}) neighbours.exchange(t, plan, neighbours.outgoing(t, plan));
    EXPECT_THAT(
        message_of<FailureError>([&] { std::ignore = neighbours.outgoing(9, plan); }),
        AllOf(HasSubstr("round 10: a message is not taken by rank 1 (client 1)"), HasSubstr("nothing came for ")));
  }
  Agreement(world()).barrier();
}

}  // namespace starling::windows_silence_test
