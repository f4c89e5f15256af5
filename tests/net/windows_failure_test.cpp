#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <gmock/gmock.h>

#include "starling/net/neighbours.hpp"

namespace starling {
namespace {

using testing_support::world;

// The last rank fails after some rounds. On a ring of windows only one rank waits for it; the control channel tells
// all.
TEST(WindowFailure, ReachesRanksThatWaitForSomebodyElse) {
  const auto n = static_cast<Client>(world().size());
  const auto me = static_cast<Client>(world().rank());
  Neighbours neighbours(world(), Layout(n, world().size()), 4, ExchangeWay::windows);
  const std::vector<Links> own{{0.5, {{(me + n - 1) % n, 0.5}}, {{(me + 1) % n, 0.5}}}};
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  const auto play = [&](Round rounds) {
    for (Round t = 0; t < rounds; ++t) {
      static_cast<void>(neighbours.begin_round(t));
      neighbours.exchange(t, plan, neighbours.outgoing(t, plan));
    }
  };
  if (me == n - 1) {
    play(100);
    EXPECT_TRUE(world().announce(ExitCode::data, "row 17 is bad"));
    return;
  }
  try {
    play(1'000'000);
    ADD_FAILURE() << "went on without the failed rank";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("row 17 is bad"));
  }
}

}  // namespace
}  // namespace starling
