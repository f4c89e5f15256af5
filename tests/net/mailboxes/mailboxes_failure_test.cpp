#include <gmock/gmock.h>

#include "net/mailboxes/mailboxes.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::mailboxes_failure_test {

using testing_support::world;

/// Goes on as long as it may; rank 0 soon only waits for the others' end.
void run(Mailboxes& mailboxes, const Released<Columns>& block) {
  const auto n = static_cast<Client>(world().size());
  const Client me = mailboxes.first();
  const Round rounds = me == 0 ? 3 : 1'000'000'000;
  for (Round t = 0; t < rounds && mailboxes.go_on(t); ++t) {
    mailboxes.progress();
    mailboxes.take(me, [](const Mailboxes::Parcel&) {});
    mailboxes.put(me, (me + 1) % n, t, block, 0);
  }
  mailboxes.announce_end();
  while (!mailboxes.all_ended()) mailboxes.wait_for_more(1);
  mailboxes.drain();
}

// Nobody waits for the rank that fails, and all hear of it: those that go on and the one that has ended. The parcels
// are long, so that messages to the failed rank are half sent when everything ends.
TEST(Failure, EndsRanksThatWaitForNobody) {
  const auto n = static_cast<Client>(world().size());
  Mailboxes mailboxes(world(), Layout(n, world().size()), 100'000, Mailboxes::Merge::add);
  const Released<Columns> block(declare_public(Columns(100'000, 1)));
  if (mailboxes.first() == n - 1) {
    mailboxes.put(n - 1, 0, 0, block, 0);
    mailboxes.progress();
    EXPECT_TRUE(world().announce(ExitCode::data, "row 17 is bad"));
    return;
  }
  try {
    run(mailboxes, block);
    ADD_FAILURE() << "went on without the failed rank";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("row 17 is bad"));
  }
}

}  // namespace starling::mailboxes_failure_test
