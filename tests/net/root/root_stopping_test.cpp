#include <csignal>

#include "net/agreement.hpp"
#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_stopping_test {

using testing_support::world;

// A signal to the last rank, which may host no client, ends all ranks after the same round.
TEST(RootStopping, ASignalToOneRankStopsAllAfterOneRound) {
  Root root(world(), Layout(5, world().size()));
  const Released<Vector> own(declare_public(Vector(4, 1.0)));
  world().watch_signals();
  Round done = 0;
  constexpr Round endless = 10'000'000;
  while (done < endless && root.begin_round(done)) {
    if (done == 200 && world().rank() == world().size() - 1) std::raise(SIGUSR1);
    Released<Vector> total = root.sum(4, [&](std::size_t) -> const Released<Vector>& { return own; });
    if (!root.aggregates()) total.update([](Vector& v) { v.assign(4, 0.0); });
    root.broadcast(total);
    EXPECT_EQ(total.value(), Vector(4, 5.0));
    ++done;
  }
  EXPECT_GT(done, 200);
  EXPECT_LT(done, endless);
  EXPECT_EQ(Agreement(world()).min(declare_public(done)), done);
  EXPECT_EQ(Agreement(world()).max(declare_public(done)), done);
}

}  // namespace starling::root_stopping_test
