/// A directed ring, one client per rank, whose vectors go one way or the other: what ends a round there must end it on
/// ranks that are no neighbours, and that may be rounds apart.
#pragma once

#include <csignal>
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "net/agreement.hpp"
#include "net/neighbours/neighbours.hpp"
#include "support/mpi_testing.hpp"

namespace starling::testing_support {

/// This rank's client on the ring.
class RingClient {
 public:
  /// **Collective** for windows.
  explicit RingClient(ExchangeWay way) : neighbours_(world(), Layout(world().size(), world().size()), 4, way) {}

  /// Plays further rounds, until so many are done or a signal ends them; `before_round` may do something at the start
  /// of each. Returns the number of rounds done.
  template <class Action>
  Round play(Round rounds, Action&& before_round) {
    while (done_ < rounds && neighbours_.begin_round(done_)) {
      before_round(done_);
      neighbours_.exchange(done_, plan_, neighbours_.outgoing(done_, plan_));
      ++done_;
    }
    return done_;
  }
  Round play(Round rounds) {
    return play(rounds, [](Round) {});
  }

 private:
  static std::vector<Links> links() {
    const auto n = static_cast<Client>(world().size());
    const auto me = static_cast<Client>(world().rank());
    if (n == 1) return {Links()};
    return {{0.5, {{(me + 1) % n, 0.5}}, {{(me + n - 1) % n, 0.5}}}};
  }

  Neighbours neighbours_;
  Neighbours::Plan plan_ = neighbours_.plan(links(), PlanUse::fixed_graph);
  Round done_ = 0;
};

inline bool is_last_rank() {
  return world().rank() == world().size() - 1;
}

/// A signal to one rank ends all ranks after the same round, though no round has a barrier: a directed ring lets a rank
/// run ahead of its predecessor's predecessor.
inline void expect_a_signal_stops_all_after_one_round(ExchangeWay way) {
  RingClient client(way);
  world().watch_signals();
  constexpr Round endless = 50'000'000;
  const Round done = client.play(endless, [](Round t) {
    if (t == 500 && is_last_rank()) std::raise(SIGUSR1);
  });
  EXPECT_GT(done, 500);
  EXPECT_LT(done, endless);
  for (const std::string& theirs : Agreement(world()).all_gather(declare_public(std::to_string(done)))) {
    EXPECT_EQ(theirs, std::to_string(done));
  }
}

/// The last rank fails after so many rounds. A rank that waits need not be a neighbour of it: the control channel tells
/// it.
inline void expect_a_failure_reaches_all(ExchangeWay way, Round rounds_before) {
  RingClient client(way);
  if (is_last_rank()) {
    client.play(rounds_before);
    EXPECT_TRUE(world().announce(ExitCode::data, "row 17 is bad"));
    return;
  }
  try {
    client.play(1'000'000);
    ADD_FAILURE() << "went on without the failed rank";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("row 17 is bad"));
  }
}

}  // namespace starling::testing_support
