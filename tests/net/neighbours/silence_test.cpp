#include <ctime>
#include <gmock/gmock.h>

#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::silence_test {

using testing::HasSubstr;
using testing_support::world;

/// Message of rank 0, which waits half a second for a round of rank 1. Rank 1 enters none, and has no message.
std::string wait_in_vain() {
  Neighbours neighbours(world(), Layout(2, 2), 4);
  std::string message;
  if (world().rank() == 0) {
    world().set_watchdog(0.5);
    const std::vector<Links> own{{0.5, {{1, 0.5}}, {{1, 0.5}}}};
    Released<Columns> outgoing(declare_public(Columns(4, 1)));
    Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
    message = testing_support::message_of<FailureError>([&] { neighbours.exchange(41, plan, outgoing); });
  }
  Agreement(world()).barrier();
  return message;
}

// The wait ends by the watchdog and names round and peer.
TEST(Silence, OfAPeerEndsTheWaitAndNamesIt) {
  const std::string message = wait_in_vain();
  if (world().rank() > 0) return;
  EXPECT_THAT(message, testing::AllOf(HasSubstr("round 42"), HasSubstr("rank 1"), HasSubstr("nothing came for 0.5")));
}

// Waits leave the processor to others: this one takes half a second, but less than half of that of the processor.
TEST(Silence, OfAPeerCostsLittleProcessorTime) {
  const std::clock_t start = std::clock();
  static_cast<void>(wait_in_vain());
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 4);
}

}  // namespace starling::silence_test
