// What every row of the topology table owes, whoever adds it.
#include "support/testing.hpp"
#include <algorithm>
#include <ostream>
#include <set>

#include <gtest/gtest.h>

#include "starling/graph/analysis.hpp"

namespace starling {
namespace {

/// Families that may fall apart by chance; all others promise joint connectivity.
const std::set<std::string> by_chance = {"erdos-renyi"};
struct Case {
  std::string family;
  Client clients;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.family << " of " << c.clients; }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& row : topology_table().rows()) {
    for (const Client n : {1, 2, 3, 5, 8, 17}) cases.push_back({row.name, n});
  }
  return cases;
}

class Family : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static Topology make(WeightRule rule = WeightRule::sender) {
    return *topology_table().make(GetParam().family, GetParam().clients, rule);
  }
};

bool ascending_without(const std::vector<Arc>& arcs, Client self) {
  const auto before = [](const Arc& a, const Arc& b) { return a.peer >= b.peer; };
  return std::adjacent_find(arcs.begin(), arcs.end(), before) == arcs.end() &&
         std::none_of(arcs.begin(), arcs.end(), [&](const Arc& arc) { return arc.peer == self; });
}

void expect_consistent(const Topology& topology) {
  for (Round t = 0; t < topology.period(); ++t) {
    std::size_t sent = 0;
    std::size_t received = 0;
    for (Client u = 0; u < topology.clients(); ++u) {
      const Links links = topology.links(u, t);
      EXPECT_GT(links.own, 0);
      EXPECT_TRUE(ascending_without(links.out, u) && ascending_without(links.in, u)) << "client " << u;
      sent += links.out.size();
      received += links.in.size();
      for (const Arc& arc : links.in) {
        const std::vector<Arc> out = topology.links(arc.peer, t).out;
        EXPECT_NE(std::find(out.begin(), out.end(), Arc{u, arc.weight}), out.end()) << arc.peer << " to " << u;
      }
    }
    EXPECT_EQ(sent, received);
  }
}

bool symmetric(const Topology& topology) {
  const auto same_peer = [](const Arc& a, const Arc& b) { return a.peer == b.peer; };
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    for (Client u = 0; u < topology.clients(); ++u) {
      const Links& links = topology.phase_links(phase, u);
      if (!std::equal(links.in.begin(), links.in.end(), links.out.begin(), links.out.end(), same_peer)) return false;
    }
  }
  return true;
}

TEST_P(Family, InAndOutLinksAgree) {
  expect_consistent(make(WeightRule::sender));
  expect_consistent(make(WeightRule::receiver));
}

TEST_P(Family, SumsAreOneByTheRule) {
  EXPECT_EQ(make().clients(), GetParam().clients);
  EXPECT_NO_THROW(require_sender_sums(make(WeightRule::sender)));
  EXPECT_NO_THROW(require_receiver_sums(make(WeightRule::receiver)));
}

TEST_P(Family, MetropolisMakesBothSumsOneOrRefuses) {
  if (!symmetric(make())) {
    EXPECT_THROW(make(WeightRule::metropolis), UsageError);
    return;
  }
  const Topology topology = make(WeightRule::metropolis);
  expect_consistent(topology);
  EXPECT_NO_THROW(require_sender_sums(topology));
  EXPECT_NO_THROW(require_receiver_sums(topology));
}

TEST_P(Family, IsJointlyConnected) {
  if (by_chance.contains(GetParam().family)) GTEST_SKIP() << "may fall apart by chance";
  const TopologyAnalysis analysis = analyse(make());
  ASSERT_TRUE(analysis.joint_window.has_value());
  EXPECT_LE(*analysis.joint_window, make().period());
  EXPECT_TRUE(analysis.rounds_to_1e_3.has_value());
}

TEST_P(Family, IsTheSameEveryTimeAndRoundTrips) {
  const Topology topology = make();
  EXPECT_EQ(topology.digest(), make().digest());
  EXPECT_EQ(Topology::parse(topology.text(), "text").digest(), topology.digest());
}

TEST_P(Family, RefusesExplicitWeights) {
  EXPECT_THROW(make(WeightRule::explicit_weights), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Table, Family, testing::ValuesIn(all_cases()), [](const auto& instance) {
  return testing_support::test_name(instance.param.family + "_" + std::to_string(instance.param.clients));
});

std::size_t edges_of(const std::string& spec, Client n) {
  return static_cast<std::size_t>(analyse(*topology_table().make(spec, n, WeightRule::sender)).edges);
}

TEST(Families, HaveTheEdgesOfTheirNames) {
  EXPECT_EQ(edges_of("ring", 2), 2u);
  EXPECT_EQ(edges_of("ring", 6), 12u);
  EXPECT_EQ(edges_of("directed-ring", 6), 6u);
  EXPECT_EQ(edges_of("star", 6), 10u);
  EXPECT_EQ(edges_of("complete", 6), 30u);
  EXPECT_EQ(edges_of("exponential", 6), 18u);
  EXPECT_EQ(edges_of("one-peer-exponential", 6), 18u);
}

TEST(Families, OnePeerExponentialHopsByPowersOfTwo) {
  const auto topology = topology_table().make("one-peer-exponential", 6, WeightRule::sender);
  EXPECT_EQ(topology->period(), 3);
  for (const auto& [round, peer] : {std::pair<Round, Client>{0, 5}, {1, 0}, {2, 2}, {3, 5}}) {
    EXPECT_EQ(topology->links(4, round).out, (std::vector<Arc>{{peer, 0.5}}));
  }
}

TEST(Families, ErdosRenyiFollowsItsProbabilityAndSeed) {
  EXPECT_EQ(edges_of("erdos-renyi:p=0", 30), 0u);
  EXPECT_EQ(edges_of("erdos-renyi:p=1", 30), 870u);
  EXPECT_NE(edges_of("erdos-renyi:p=0.5,seed=1", 60), edges_of("erdos-renyi:p=0.5,seed=2", 60));
  // 1,000 pairs on average, standard deviation 28: within six of them.
  EXPECT_NEAR(static_cast<double>(edges_of("erdos-renyi:p=0.2,directed=1", 71)), 0.2 * 71 * 70, 170);
  EXPECT_NEAR(static_cast<double>(edges_of("erdos-renyi:p=0.4", 71)), 0.4 * 71 * 70, 2 * 6 * 25);
}

TEST(Families, ManyClientsAreNoTrouble) {
  const auto topology = topology_table().make("directed-ring", 100'000, WeightRule::sender);
  EXPECT_EQ(topology->links(99'999, 5).out, (std::vector<Arc>{{0, 0.5}}));
}

}  // namespace
}  // namespace starling
