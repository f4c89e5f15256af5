#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <gmock/gmock.h>

#include "starling/net/agreement.hpp"
#include "starling/net/neighbours.hpp"

namespace starling {
namespace {

using testing_support::world;

// On a digraph a rank that waits need not be a neighbour of the one that failed: the control channel tells it.
TEST(Failure, ReachesRanksThatWaitForSomebodyElse) {
  const auto n = static_cast<Client>(world().size());
  const auto me = static_cast<Client>(world().rank());
  Neighbours neighbours(world(), Layout(n, world().size()), 4);
  const std::vector<Links> own{{0.5, {{(me + 1) % n, 0.5}}, {{(me + n - 1) % n, 0.5}}}};
  Released<Columns> outgoing(declare_public(Columns(4, 1)));
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  if (me == n - 1) {
    EXPECT_TRUE(world().announce(ExitCode::data, "row 17 is bad"));
    return;
  }
  try {
    for (Round t = 0; t < 1'000'000; ++t) {
      static_cast<void>(neighbours.begin_round(t));
      neighbours.exchange(t, plan, outgoing);
    }
    ADD_FAILURE() << "went on without the failed rank";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("row 17 is bad"));
  }
}

}  // namespace
}  // namespace starling
