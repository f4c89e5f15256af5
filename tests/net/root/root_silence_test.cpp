#include <thread>

#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_silence_test {

using namespace testing_support;

Released<Vector> ones(std::size_t length) {
  return declare_public(Vector(length, 1.0));
}

void round_42(Root& root, std::size_t length) {
  const Released<Vector> own = ones(length);
  EXPECT_TRUE(root.begin_round(41));
  Released<Vector> total = root.sum(length, [&](std::size_t) -> const Released<Vector>& { return own; });
  if (!root.aggregates()) total.update([&](Vector& v) { v.assign(length, 0.0); });
  root.broadcast(total);
}

// Whoever computes for longer than the others' patience, and says so, is waited for: clients, and the aggregator.
TEST(RootSilence, SlowAnswersWithSignsOfLifeAreNone) {
  Root root(world(), Layout(6, world().size()));
  world().set_watchdog(0.8);
  const Released<Vector> own = ones(3);
  for (const bool aggregator_is_slow : {false, true}) {
    EXPECT_TRUE(root.begin_round(aggregator_is_slow ? 1 : 0));
    Released<Vector> total = root.sum(3, [&](std::size_t k) -> const Released<Vector>& {
      const bool slow = k == 0 && root.aggregates() == aggregator_is_slow;
      for (int steps = 0; slow && steps < 130; ++steps) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        root.still_here();
      }
      return own;
    });
    if (!root.aggregates()) total.update([](Vector& v) { v.assign(3, 0.0); });
    root.broadcast(total);
    EXPECT_EQ(total.value(), Vector(3, 6.0));
  }
}

// The last rank enters no round. Rank 0 says whom it waits for; the ranks between, whose patience is shorter, know that
// rank 0 lives and leave it to say so. Contributions are long enough to need a receiver.
TEST(RootSilence, OfAClientIsNamedByTheAggregator) {
  Root root(world(), Layout(6, world().size()));
  const int last = world().size() - 1;
  if (world().rank() == last) {
    EXPECT_THAT(heard(), ElementsAre(AllOf(HasSubstr("rank 0: round 42"), HasSubstr(fmt::format("(rank {})", last)))));
    return;
  }
  world().set_watchdog(root.aggregates() ? 1 : 0.8);
  const std::string message = message_of<Error>([&] { round_42(root, 20'000); });
  const std::string awaited =
      fmt::format("round 42: client {} (rank {}) has sent nothing", Layout(6, last + 1).first(last), last);
  EXPECT_THAT(message, AllOf(HasSubstr(awaited), HasSubstr("nothing came for 1")));
  if (root.aggregates()) {
    EXPECT_TRUE(world().announce(ExitCode::failure, message));
  }
}

}  // namespace starling::root_silence_test
