#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <csignal>

#include "starling/net/agreement.hpp"
#include "starling/net/neighbours.hpp"

namespace starling {
namespace {

using testing_support::world;

// As by messages: a signal to one rank ends all ranks after the same round, though ranks on a directed ring may be
// rounds apart.
TEST(WindowStopping, ASignalToOneRankStopsAllAfterOneRound) {
  const auto n = static_cast<Client>(world().size());
  const auto me = static_cast<Client>(world().rank());
  Neighbours neighbours(world(), Layout(n, world().size()), 4, ExchangeWay::windows);
  Links links;
  if (n > 1) links = {0.5, {{(me + n - 1) % n, 0.5}}, {{(me + 1) % n, 0.5}}};
  const std::vector<Links> own{links};
  world().watch_signals();
  Round done = 0;
  constexpr Round endless = 50'000'000;
  Neighbours::Plan plan = neighbours.plan(own, PlanUse::fixed_graph);
  while (done < endless && neighbours.begin_round(done)) {
    if (done == 500 && me == n - 1) std::raise(SIGUSR1);
    neighbours.exchange(done, plan, neighbours.outgoing(done, plan));
    ++done;
  }
  EXPECT_GT(done, 500);
  EXPECT_LT(done, endless);
  for (const std::string& theirs : Agreement(world()).all_gather(declare_public(std::to_string(done)))) {
    EXPECT_EQ(theirs, std::to_string(done));
  }
}

}  // namespace
}  // namespace starling
