#include <chrono>
#include <gmock/gmock.h>
#include <thread>

#include "net/agreement.hpp"
#include "net/mailboxes/mailboxes.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::mailboxes_silence_test {

using testing::HasSubstr;
using testing_support::world;

// Rank 0 has ended and waits. Rank 1 is silent from its fourth round on; rank 2 works and sends nobody anything. Rank 0
// tells them apart.
TEST(Silence, OfARankThatHasNotEndedIsToldFromWork) {
  world().set_watchdog(0.5);
  Mailboxes mailboxes(world(), Layout(3, 3), 4, Mailboxes::Merge::add);
  const Released<Columns> block(declare_public(Columns(4, 1)));
  Agreement agreement(world());
  if (world().rank() == 0) {
    mailboxes.announce_end();
    const std::string message = testing_support::message_of<FailureError>([&] {
      while (!mailboxes.all_ended()) mailboxes.wait_for_more(0.1);
    });
    EXPECT_THAT(message, testing::AllOf(HasSubstr("the end of rank 1 (client 1)"), HasSubstr("last in round 4"),
                                        testing::ContainsRegex("nothing came for (0\\.[5-9]|1)")));
  } else if (world().rank() == 1) {
    mailboxes.put(1, 0, 3, block, 0);
    mailboxes.progress();
  } else {
    const auto start = std::chrono::steady_clock::now();
    for (Round t = 0; std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1500); ++t) {
      EXPECT_TRUE(mailboxes.go_on(t));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  agreement.barrier();
}

}  // namespace starling::mailboxes_silence_test
