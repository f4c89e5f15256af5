#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <gmock/gmock.h>
#include <thread>
#include <tuple>

#include "starling/net/root.hpp"

namespace starling {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message_of;
using testing_support::world;

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

/// The failure that another rank tells of within 20 s.
std::string heard() {
  for (int waits = 0; waits < 20'000; ++waits) {
    const std::string message = message_of<PeerError>([] { std::ignore = world().go_on_waiting(); });
    if (!message.empty()) return message;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return "";
}

// The last rank enters no round. Rank 0 says whom it waits for; the ranks between, whose patience is shorter, know that
// rank 0 lives and leave it to say so. Contributions are long enough to need a receiver.
TEST(RootSilence, OfAClientIsNamedByTheAggregator) {
  Root root(world(), Layout(6, world().size()));
  const int last = world().size() - 1;
  if (world().rank() == last) {
    EXPECT_THAT(heard(), AllOf(HasSubstr("rank 0: round 42"), HasSubstr(fmt::format("(rank {})", last))));
    return;
  }
  world().set_watchdog(root.aggregates() ? 2 : 1.6);
  const std::string message = message_of<Error>([&] { round_42(root, 20'000); });
  const std::string awaited =
      fmt::format("round 42: client {} (rank {}) has sent nothing", Layout(6, last + 1).first(last), last);
  EXPECT_THAT(message, AllOf(HasSubstr(awaited), HasSubstr("(nothing came for 2")));
  if (root.aggregates()) {
    EXPECT_TRUE(world().announce(ExitCode::failure, message));
  }
}

}  // namespace
}  // namespace starling
