#include "starling/net/probes/soundings.hpp"

#include "support/mpi_testing.hpp"
#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <unistd.h>

#include "starling/core/random.hpp"

namespace starling {
namespace {

using testing_support::world;

/// A random digraph for each of several rounds, the same on every rank.
std::vector<Links> random_graph(Client n, Round t) {
  AddressedRandom random(11, Purpose::experiment, 0, static_cast<std::uint64_t>(t));
  std::vector<Links> links(static_cast<std::size_t>(n));
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < n; ++v) {
      if (u == v || random.uniform() > 0.2) continue;
      links[static_cast<std::size_t>(u)].out.push_back({v, 0.25});
      links[static_cast<std::size_t>(v)].in.push_back({u, 0.25});
    }
  }
  return links;
}

OwnLinks own_links(const Layout& layout) {
  return [layout](Round t) {
    const auto all = random_graph(layout.clients(), t);
    const auto first = all.begin() + layout.first(world().rank());
    return std::vector<Links>(first, first + layout.count(world().rank()));
  };
}

class Soundings : public testing::TestWithParam<std::pair<Client, Round>> {};

/// Counted over pairs of clients, where the program goes by rows of its own.
TEST_P(Soundings, EveryWayOfTheGraphIsTimedOnce) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  std::map<std::pair<int, int>, std::size_t> expected;
  for (Round t = 0; t < rounds; ++t) {
    const auto graph = random_graph(clients, t);
    std::map<std::pair<int, int>, std::set<Client>> senders;
    for (Client v = 0; v < clients; ++v) {
      for (const Arc& arc : graph[static_cast<std::size_t>(v)].in) {
        const std::pair way(layout.rank_of(arc.peer), layout.rank_of(v));
        if (way.first != way.second) senders[way].insert(arc.peer);
      }
    }
    for (const auto& [way, who] : senders) expected[way] = std::max(expected[way], who.size());
  }
  std::map<std::pair<int, int>, std::size_t> found;
  std::pair<int, int> before{-1, -1};
  for (const Way& way : sound_ways(world(), layout, own_links(layout), rounds, 17, {20})) {
    const std::pair ends(way.from, way.to);
    EXPECT_LT(before, ends) << "ascending, each once";
    before = ends;
    found[ends] = way.vectors;
    EXPECT_TRUE(way.seconds.has_value());
    EXPECT_GT(way.seconds.value_or(0), 0);
    EXPECT_LT(way.seconds.value_or(30), 30);
  }
  EXPECT_EQ(found, expected);
}

TEST_P(Soundings, AnExchangeTakesItsTimeWhereThereAreClients) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  const auto seconds = sound_exchange(world(), layout, own_links(layout), rounds, 17);
  EXPECT_EQ(seconds.size(), static_cast<std::size_t>(world().size()));
  for (int r = 0; r < static_cast<int>(seconds.size()); ++r) {
    const auto& of_rank = seconds[static_cast<std::size_t>(r)];
    EXPECT_EQ(of_rank.has_value(), layout.count(r) > 0) << "rank " << r;
    EXPECT_GE(of_rank.value_or(0), 0);
    EXPECT_LT(of_rank.value_or(0), 30);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Soundings,
                         testing::Values(std::pair<Client, Round>{3, 1}, std::pair<Client, Round>{12, 1},
                                         std::pair<Client, Round>{12, 4}));

/// Time is up before the second way: the first is measured, whichever it is, and nobody waits for the others.
TEST_P(Soundings, WhatIsLeftWhenTimeIsUpIsLeftOut) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  std::size_t told = 0;
  std::size_t announced = 0;
  const auto progress = [&](std::size_t done, std::size_t of) {
    EXPECT_EQ(done, told++);
    announced = of;
  };
  const auto ways = sound_ways(world(), layout, own_links(layout), rounds, 17, {5, 1e-9, progress});
  const auto measured = std::count_if(ways.begin(), ways.end(), [](const Way& way) { return way.seconds.has_value(); });
  EXPECT_EQ(measured, ways.empty() ? 0 : 1);
  EXPECT_EQ(told, static_cast<std::size_t>(measured));
  EXPECT_EQ(announced, ways.size());
}

/// Neither MPI's count nor memory for such a message is ever asked for.
TEST_P(Soundings, AMessageThatMpiCannotCountIsRefused) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  constexpr std::size_t too_long = std::size_t{1} << 31;
  if (sound_ways(world(), layout, own_links(layout), rounds, 1, {1}).empty()) return;
  try {
    static_cast<void>(sound_ways(world(), layout, own_links(layout), rounds, too_long, {1}));
    ADD_FAILURE() << "it was sent";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("vectors of 2147483648 numbers"));
  } catch (const PeerError&) {  // another rank has said so
  }
}

/// A longer message takes longer: a megabyte crosses no machine in the time of eight bytes.
TEST(SoundingsOfSizes, ALongMessageTakesLonger) {
  const Layout layout(world().size(), world().size());
  const OwnLinks ring = [&](Round) {
    const Client u = world().rank();
    const Client n = layout.clients();
    Links links;
    if (n > 1) {
      links.out.push_back({(u + 1) % n, 0.5});
      links.in.push_back({(u + n - 1) % n, 0.5});
    }
    return std::vector<Links>{links};
  };
  const auto small = sound_ways(world(), layout, ring, 1, 1, {50});
  const auto large = sound_ways(world(), layout, ring, 1, 1 << 20, {10});
  EXPECT_EQ(small.size(), world().size() > 1 ? static_cast<std::size_t>(world().size()) : 0U);
  EXPECT_EQ(large.size(), small.size());
  double fastest_large = 1e9;
  double fastest_small = 1e9;
  for (const Way& way : large) fastest_large = std::min(fastest_large, way.seconds.value_or(0));
  for (const Way& way : small) fastest_small = std::min(fastest_small, way.seconds.value_or(0));
  if (world().size() > 1) {
    EXPECT_GT(fastest_large, fastest_small);
  }
}

/// The ranks of this test share a clock, so the difference is within its own uncertainty (and the clock's ticks).
TEST(SoundingsOfClocks, OneClockDiffersByNothing) {
  const std::vector<ClockSkew> clocks = sound_clocks(world());
  ASSERT_EQ(clocks.size(), static_cast<std::size_t>(world().size()));
  EXPECT_EQ(clocks[0].seconds, 0);
  EXPECT_EQ(clocks[0].uncertainty, 0);
  for (std::size_t r = 1; r < clocks.size(); ++r) {
    EXPECT_GT(clocks[r].uncertainty, 0);
    EXPECT_LE(std::abs(clocks[r].seconds), clocks[r].uncertainty + 2e-6) << "rank " << r;
  }
}

TEST(SoundingsOfTheLaunch, TellWhatMpiSays) {
  EXPECT_EQ(thread_level(), "single");
  EXPECT_FALSE(host_name().empty());
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(host_name(), name);
  if (oversubscribed()) {
    EXPECT_TRUE(yields_when_idle().value_or(true));
  }
}

}  // namespace
}  // namespace starling
