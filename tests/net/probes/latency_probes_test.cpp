#include "net/probes/latency_probes.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <unistd.h>

#include "core/random.hpp"
#include "net/host/mpi_session.hpp"
#include "support/mpi_testing.hpp"

namespace starling::latency_probes_test {

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

class LatencyProbes : public testing::TestWithParam<std::pair<Client, Round>> {};

/// Counted over pairs of clients, where the program goes by rows of its own.
TEST_P(LatencyProbes, EveryRouteOfTheGraphIsTimedOnce) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  std::map<std::pair<int, int>, std::size_t> expected;
  for (Round t = 0; t < rounds; ++t) {
    const auto graph = random_graph(clients, t);
    std::map<std::pair<int, int>, std::set<Client>> senders;
    for (Client v = 0; v < clients; ++v) {
      for (const Arc& arc : graph[static_cast<std::size_t>(v)].in) {
        const std::pair route(layout.rank_of(arc.peer), layout.rank_of(v));
        if (route.first != route.second) senders[route].insert(arc.peer);
      }
    }
    for (const auto& [route, who] : senders) expected[route] = std::max(expected[route], who.size());
  }
  std::map<std::pair<int, int>, std::size_t> found;
  std::pair<int, int> before{-1, -1};
  for (const Route& route : probe_routes(world(), layout, own_links(layout), rounds, 17, {20})) {
    const std::pair ends(route.from, route.to);
    EXPECT_LT(before, ends) << "ascending, each once";
    before = ends;
    found[ends] = route.vectors;
    EXPECT_TRUE(route.seconds.has_value());
    EXPECT_GT(route.seconds.value_or(0), 0);
    EXPECT_LT(route.seconds.value_or(30), 30);
  }
  EXPECT_EQ(found, expected);
}

TEST_P(LatencyProbes, AnExchangeTakesItsTimeWhereThereAreClients) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  const auto seconds = probe_exchange(world(), layout, own_links(layout), rounds, 17);
  EXPECT_EQ(seconds.size(), static_cast<std::size_t>(world().size()));
  for (int r = 0; r < static_cast<int>(seconds.size()); ++r) {
    const auto& of_rank = seconds[static_cast<std::size_t>(r)];
    EXPECT_EQ(of_rank.has_value(), layout.count(r) > 0) << "rank " << r;
    EXPECT_GE(of_rank.value_or(0), 0);
    EXPECT_LT(of_rank.value_or(0), 30);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, LatencyProbes,
                         testing::Values(std::pair<Client, Round>{3, 1}, std::pair<Client, Round>{12, 1},
                                         std::pair<Client, Round>{12, 4}));

/// Time is up before the second route: the first is measured, whichever it is, and nobody waits for the others.
TEST_P(LatencyProbes, WhatIsLeftWhenTimeIsUpIsLeftOut) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  std::size_t told = 0;
  std::size_t announced = 0;
  const auto progress = [&](std::size_t done, std::size_t of) {
    EXPECT_EQ(done, told++);
    announced = of;
  };
  const auto routes = probe_routes(world(), layout, own_links(layout), rounds, 17, {5, 1e-9, progress});
  const auto measured =
      std::count_if(routes.begin(), routes.end(), [](const Route& route) { return route.seconds.has_value(); });
  EXPECT_EQ(measured, routes.empty() ? 0 : 1);
  EXPECT_EQ(told, static_cast<std::size_t>(measured));
  EXPECT_EQ(announced, routes.size());
}

/// Neither MPI's count nor memory for such a message is ever asked for.
TEST_P(LatencyProbes, AMessageThatMpiCannotCountIsRefused) {
  const auto [clients, rounds] = GetParam();
  const Layout layout(clients, world().size());
  constexpr std::size_t too_long = std::size_t{1} << 31;
  if (probe_routes(world(), layout, own_links(layout), rounds, 1, {1}).empty()) return;
  try {
    static_cast<void>(probe_routes(world(), layout, own_links(layout), rounds, too_long, {1}));
    ADD_FAILURE() << "it was sent";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("vectors of 2147483648 numbers"));
  } catch (const PeerError&) {  // another rank has said so
  }
}

/// A longer message takes longer: a megabyte crosses no machine in the time of eight bytes.
TEST(LatencyProbesOfSizes, ALongMessageTakesLonger) {
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
  const auto small = probe_routes(world(), layout, ring, 1, 1, {50});
  const auto large = probe_routes(world(), layout, ring, 1, 1 << 20, {10});
  EXPECT_EQ(small.size(), world().size() > 1 ? static_cast<std::size_t>(world().size()) : 0U);
  EXPECT_EQ(large.size(), small.size());
  double fastest_large = 1e9;
  double fastest_small = 1e9;
  for (const Route& route : large) fastest_large = std::min(fastest_large, route.seconds.value_or(0));
  for (const Route& route : small) fastest_small = std::min(fastest_small, route.seconds.value_or(0));
  if (world().size() > 1) {
    EXPECT_GT(fastest_large, fastest_small);
  }
}

/// The ranks of this test share a clock, so the difference is within its own uncertainty (and the clock's ticks).
TEST(ClockSkews, OneClockDiffersByNothing) {
  const std::vector<ClockSkew> clocks = measure_clock_skews(world());
  ASSERT_EQ(clocks.size(), static_cast<std::size_t>(world().size()));
  EXPECT_EQ(clocks[0].seconds, 0);
  EXPECT_EQ(clocks[0].uncertainty, 0);
  for (std::size_t r = 1; r < clocks.size(); ++r) {
    EXPECT_GT(clocks[r].uncertainty, 0);
    EXPECT_LE(std::abs(clocks[r].seconds), clocks[r].uncertainty + 2e-6) << "rank " << r;
  }
}

TEST(FactsOfTheLaunch, TellWhatMpiSays) {
  EXPECT_EQ(thread_level(), "single");
  EXPECT_FALSE(host_name().empty());
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  EXPECT_EQ(host_name(), name);
  if (oversubscribed()) {
    EXPECT_TRUE(yields_when_idle().value_or(true));
  }
}

}  // namespace starling::latency_probes_test
