#include <csignal>

#include "net/agreement.hpp"
#include "net/mailboxes/mailboxes.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::mailboxes_stopping_test {

using testing_support::world;

// A signal to one rank ends all, each in its own round; the first rank has ended before and only waits.
TEST(Stopping, ASignalEndsRanksInDifferentRounds) {
  const auto n = static_cast<Client>(world().size());
  const auto me = static_cast<Client>(world().rank());
  Mailboxes mailboxes(world(), Layout(n, world().size()), 4, Mailboxes::Merge::add);
  Released<Columns> ones(declare_public(Columns(4, 1)));
  ones.update([](Columns& block) { std::fill(block.flat().begin(), block.flat().end(), 1.0); });
  double balance = 0;
  const auto take = [&] {
    mailboxes.take(me, [&](const Mailboxes::Parcel& parcel) { balance += parcel.vector.front(); });
  };
  world().watch_signals();
  constexpr Round endless = 2'000'000'000;
  const Round rounds = me == 0 && n > 1 ? 10 : endless;
  Round done = 0;
  while (done < rounds && mailboxes.go_on(done)) {
    if (done == 500 && me == n - 1) std::raise(SIGUSR1);
    mailboxes.progress();
    take();
    mailboxes.put(me, (me + 1) % n, done, ones, 0);
    balance -= 1;
    ++done;
  }
  EXPECT_LT(done, endless);
  if (me == n - 1) {
    EXPECT_GT(done, 500);
  }
  mailboxes.announce_end();
  while (!mailboxes.all_ended()) mailboxes.wait_for_more(0.1);
  mailboxes.drain();
  take();
  double total = 0;
  for (const Vector& theirs : Agreement(world()).all_gather(declare_public(Vector{balance}))) total += theirs[0];
  EXPECT_EQ(total, 0);
}

}  // namespace starling::mailboxes_stopping_test
