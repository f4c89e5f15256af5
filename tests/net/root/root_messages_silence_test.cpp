#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_messages_silence_test {

using testing::ContainsRegex;
using namespace testing_support;

constexpr std::size_t length = 20'000;  // such messages need a receiver

void distribute_in_round_42(Root& root) {
  const Released<Vector> own(declare_public(Vector(length, 1.0)));
  EXPECT_TRUE(root.begin_round(41));
  root.distribute(
      std::vector<std::size_t>(6, length), [&](Client) -> const Released<Vector>& { return own; }, plain_codec(),
      [](std::size_t, const Released<Vector>&) {});
}

// One failure per program. Of two ranks rank 0 sends nothing, of three the last takes nothing; the one between gets
// what is for its clients.
TEST(RootMessagesSilence, IsNamedWithRoundAndPeer) {
  Root root(world(), Layout(6, world().size()));
  const bool aggregator_is_silent = world().size() == 2;
  const int silent = aggregator_is_silent ? 0 : 2;
  const int waiting = aggregator_is_silent ? 1 : 0;
  const std::string awaited = aggregator_is_silent ? "round 42: rank 0, which aggregates, has sent client 3 nothing"
                                                   : "round 42: client 4 (rank 2) does not take what is sent to it";
  if (world().rank() == waiting) {
    world().set_watchdog(0.7);
    const std::string message = message_of<FailureError>([&] { distribute_in_round_42(root); });
    EXPECT_THAT(message, AllOf(HasSubstr(awaited), ContainsRegex("nothing came for (0\\.[7-9]|[1-9])")));
    EXPECT_TRUE(world().announce(ExitCode::failure, message));
    return;
  }
  if (world().rank() != silent) distribute_in_round_42(root);
  EXPECT_THAT(heard(), ElementsAre(HasSubstr(awaited)));
}

}  // namespace starling::root_messages_silence_test
