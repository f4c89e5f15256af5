#include "net/mailboxes/mailboxes.hpp"

#include <map>

#include "core/random.hpp"
#include "net/agreement.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::mailboxes_test {

using testing_support::world;
using Merge = Mailboxes::Merge;

/// Sum of all ranks' numbers, everywhere.
std::int64_t total(std::int64_t mine) {
  return Agreement(world()).sum(declare_public(mine));
}

/// Ends, and takes all that is still to come.
void finish(Mailboxes& mailboxes, const std::function<void()>& take) {
  mailboxes.announce_end();
  while (!mailboxes.all_ended()) {
    mailboxes.wait_for_more(0.01);
    take();
  }
  mailboxes.drain();
  take();
}

void take_all(Mailboxes& mailboxes, const Mailboxes::Visitor& visit) {
  for (std::size_t k = 0; k < mailboxes.count(); ++k) mailboxes.take(mailboxes.first() + static_cast<Client>(k), visit);
}

void compute(std::uint64_t steps) {
  volatile double x = 1;
  for (std::uint64_t i = 0; i < steps; ++i) x = x * 0.999 + 1;
}

/// What client u sends in round t: to whom, and a whole number that stands in every entry.
std::map<Client, double> sent(Client u, Round t, Client clients) {
  AddressedRandom random(3, Purpose::experiment, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(t));
  std::map<Client, double> parcels;
  for (std::uint64_t k = random.below(4); k > 0; --k) {
    const auto to = static_cast<Client>(random.below(static_cast<std::uint64_t>(clients)));
    if (to != u) parcels[to] = static_cast<double>(1 + random.below(1000));
  }
  return parcels;
}

/// Ranks end at very different times, some before their first round, and their rounds take very different times.
Round rounds_of(int rank) {
  return rank % 3 == 1 ? 0 : 100 + 300 * (rank % 2);
}
std::uint64_t slowness_of(int rank) {
  return rank % 4 == 2 ? 400'000 : 2'000;
}

struct Case {
  Client clients;
  std::size_t length;
  Merge merge;
};

class RandomTraffic : public testing::TestWithParam<Case> {
 protected:
  /// What client u gets from each other in the whole run.
  [[nodiscard]] std::map<Client, double> expected(const Layout& layout, Client u) const {
    std::map<Client, double> sums;
    for (Client v = 0; v < layout.clients(); ++v) {
      for (Round t = 0; t < rounds_of(layout.rank_of(v)); ++t) {
        const auto parcels = sent(v, t, layout.clients());
        if (const auto own = parcels.find(u); own != parcels.end()) sums[v] += own->second;
      }
    }
    return sums;
  }
};

// As shares that are added, and as running sums of which the last counts: to the last bit (whole numbers), what has
// been put has been taken in the end, over every edge, whatever the speeds.
TEST_P(RandomTraffic, ArrivesAsAWholeInRisingRounds) {
  const Case c = GetParam();
  const Layout layout(c.clients, world().size());
  Mailboxes mailboxes(world(), layout, c.length, c.merge);
  std::map<std::pair<Client, Client>, double> running;
  std::map<std::pair<Client, Client>, double> received;
  std::map<std::pair<Client, Client>, Round> last_round;
  int wrong = 0;
  const auto take = [&] {
    take_all(mailboxes, [&](const Mailboxes::Parcel& parcel) {
      const std::pair edge(parcel.from, parcel.to);
      const auto last = last_round.find(edge);
      wrong += last != last_round.end() && last->second >= parcel.round ? 1 : 0;
      last_round[edge] = parcel.round;
      wrong += parcel.vector.size() != c.length || parcel.vector.front() != parcel.vector.back() ? 1 : 0;
      received[edge] = (c.merge == Merge::add ? received[edge] : 0) + parcel.vector.front();
    });
  };
  std::int64_t put = 0;
  const Round rounds = mailboxes.count() > 0 ? rounds_of(world().rank()) : 0;
  for (Round t = 0; t < rounds; ++t) {
    EXPECT_TRUE(mailboxes.go_on(t));
    mailboxes.progress();
    take();
    compute(slowness_of(world().rank()));
    for (std::size_t k = 0; k < mailboxes.count(); ++k) {
      const Client u = mailboxes.first() + static_cast<Client>(k);
      for (const auto& [to, amount] : sent(u, t, c.clients)) {
        double& sum = running[{u, to}];
        sum = (c.merge == Merge::add ? 0 : sum) + amount;
        Columns block(c.length, 2);
        for (double& entry : block[1]) entry = sum;
        mailboxes.put(u, to, t, Released<Columns>(declare_public(block)), 1);
        ++put;
      }
    }
  }
  finish(mailboxes, take);
  EXPECT_EQ(wrong, 0);
  for (std::size_t k = 0; k < mailboxes.count(); ++k) {
    const Client u = mailboxes.first() + static_cast<Client>(k);
    const auto sums = expected(layout, u);
    std::map<Client, double> got;
    for (const auto& [edge, sum] : received) {
      if (edge.second == u) got[edge.first] = sum;
    }
    EXPECT_EQ(got, sums) << "to client " << u;
  }
  EXPECT_EQ(mailboxes.waiting_parcels(), 0U);
  std::int64_t parcels = 0;
  for (const EdgeTraffic& edge : mailboxes.edge_traffic()) {
    parcels += edge.messages;
    EXPECT_EQ(edge.bytes, edge.messages * static_cast<std::int64_t>(c.length * sizeof(double)));
  }
  EXPECT_LE(parcels, put);
  EXPECT_EQ(parcels > 0, put > 0);
  EXPECT_EQ(total(mailboxes.wire_traffic().messages) > 0, world().size() > 1 && c.clients > 1);
}

// Short parcels travel at once, long ones by a rendezvous; clients fewer than, as many as, more than ranks.
INSTANTIATE_TEST_SUITE_P(Layouts, RandomTraffic,
                         testing::Values(Case{1, 3, Merge::add}, Case{2, 6, Merge::add}, Case{7, 6, Merge::replace},
                                         Case{7, 20'000, Merge::add}, Case{23, 3, Merge::add},
                                         Case{23, 1000, Merge::replace}),
                         [](const auto& row) {
                           return fmt::format("n{}_length{}_{}", row.param.clients, row.param.length,
                                              row.param.merge == Merge::add ? "add" : "replace");
                         });

/// Clients 0 and 1, on one rank or two (others have none): what client 1 gets of five parcels that client 0 puts before
/// any can leave.
std::vector<std::pair<Round, Vector>> five_merged(Merge merge) {
  Mailboxes mailboxes(world(), Layout(2, world().size()), 2, merge);
  std::vector<std::pair<Round, Vector>> got;
  const auto take = [&] {
    take_all(mailboxes, [&](const Mailboxes::Parcel& parcel) {
      got.emplace_back(parcel.round, Vector(parcel.vector.begin(), parcel.vector.end()));
    });
  };
  if (mailboxes.count() > 0 && mailboxes.first() == 0) {
    Columns block(2, 1);
    for (Round t = 0; t < 5; ++t) {
      block[0][0] = static_cast<double>(t + 1);
      block[0][1] = 1;
      mailboxes.put(0, 1, t, Released<Columns>(declare_public(block)), 0);
    }
    EXPECT_EQ(mailboxes.waiting_parcels(), mailboxes.count() == 2 ? 0U : 1U);
  }
  finish(mailboxes, take);
  const bool has_sender = mailboxes.count() > 0 && mailboxes.first() == 0;
  const auto traffic = mailboxes.edge_traffic();
  EXPECT_EQ(traffic.size(), has_sender ? 1U : 0U);
  for (const EdgeTraffic& edge : traffic) EXPECT_EQ(edge.messages, 1) << "merged parcels are one";
  const bool has_receiver = mailboxes.count() > 0 && mailboxes.first() + static_cast<Client>(mailboxes.count()) == 2;
  EXPECT_EQ(got.size(), has_receiver ? 1U : 0U);
  return got;
}

TEST(Merging, AddsShares) {
  for (const auto& [round, vector] : five_merged(Merge::add)) {
    EXPECT_EQ(round, 4);
    EXPECT_EQ(vector, (Vector{15, 5}));
  }
}

TEST(Merging, ReplacesRunningSums) {
  for (const auto& [round, vector] : five_merged(Merge::replace)) {
    EXPECT_EQ(round, 4);
    EXPECT_EQ(vector, (Vector{5, 1}));
  }
}

// The last rank turns to no message until all others have put theirs: to it each sends one message and keeps the rest,
// a parcel per edge.
TEST(SlowReceiver, FindsOneMessageWhileTheRestWaitsMerged) {
  constexpr Client clients = 14;
  constexpr Round rounds = 3000;
  const Layout layout(clients, world().size());
  const int slow = world().size() - 1;
  Mailboxes mailboxes(world(), layout, 50, Merge::add);
  Agreement agreement(world());
  Released<Columns> ones(declare_public(Columns(50, 1)));
  ones.update([](Columns& block) { std::fill(block.flat().begin(), block.flat().end(), 1.0); });
  std::int64_t got = 0;
  const auto take = [&] {
    take_all(mailboxes,
             [&](const Mailboxes::Parcel& parcel) { got += static_cast<std::int64_t>(parcel.vector.back()); });
  };
  std::int64_t put = 0;
  std::size_t most_waiting = 0;
  if (world().rank() != slow) {
    for (Round t = 0; t < rounds; ++t) {
      EXPECT_TRUE(mailboxes.go_on(t));
      mailboxes.progress();
      for (Client u = mailboxes.first(); u < layout.first(world().rank() + 1); ++u, ++put) {
        mailboxes.put(u, clients - 1, t, ones, 0);
      }
      most_waiting = std::max(most_waiting, mailboxes.waiting_parcels());
    }
    EXPECT_EQ(mailboxes.wire_traffic().messages, 1);
    EXPECT_EQ(most_waiting, mailboxes.count());
  }
  agreement.barrier();
  finish(mailboxes, take);
  EXPECT_EQ(total(got), total(put));
}

// What has been drained belongs to its run: the next one of the same ranks starts anew.
TEST(Drained, RunsFollowEachOther) {
  for (int run = 0; run < 20; ++run) {
    const Layout layout(world().size(), world().size());
    Mailboxes mailboxes(world(), layout, 1, Merge::add);
    Columns block(1, 1);
    block[0][0] = run + 1;
    const Released<Columns> released(declare_public(block));
    const auto me = static_cast<Client>(world().rank());
    double got = 0;
    for (Client v = 0; v < layout.clients(); ++v) mailboxes.put(me, v, 0, released, 0);
    finish(mailboxes,
           [&] { take_all(mailboxes, [&](const Mailboxes::Parcel& parcel) { got += parcel.vector.front(); }); });
    EXPECT_EQ(got, (run + 1) * layout.clients());
    EXPECT_TRUE(mailboxes.all_ended());
    EXPECT_NE(testing_support::message_of<FailureError>([&] { mailboxes.put(me, 0, 7, released, 0); }), "");
  }
}

}  // namespace starling::mailboxes_test
