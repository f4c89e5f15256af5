// Conformance tests of every topology family: sums, connectivity, determinism. They also run over the family of
// docs/how-to/add-a-topology.md.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <ostream>
#include <set>
#include <tuple>

#include "chords.hpp"
#include "files/durable_file.hpp"
#include "graph/analysis/analysis.hpp"
#include "numbers_of_clients.hpp"
#include "support/testing.hpp"

namespace starling::families_test {

using namespace testing_support;

/// The table of families, and the family of the how-to page.
const TopologyTable& tested_families() {
  static const TopologyTable table = topology_table().with(chords_row());
  return table;
}

/// Families that may be disconnected by chance; all others promise joint connectivity.
const std::set<std::string> by_chance = {"erdos-renyi", "random-regular", "small-world", "random-matching"};

struct Case {
  std::string family;
  Client clients;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.family << " of " << c.clients; }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& row : tested_families().rows()) {
    for (const Client n : taken(row.name, {1, 2, 3, 4, 5, 8, 12, 17, 32})) {
      cases.push_back({row.name, n});
    }
  }
  return cases;
}

class Family : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static Topology make(WeightRule rule = WeightRule::sender) {
    return topology_of(*tested_families().make(GetParam().family, GetParam().clients, rule));
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
  EXPECT_NO_THROW(make(WeightRule::sender).require_sender_sums());
  EXPECT_NO_THROW(make(WeightRule::receiver).require_receiver_sums());
}

TEST_P(Family, MetropolisMakesBothSumsOneOrRefuses) {
  if (!symmetric(make())) {
    EXPECT_THROW(make(WeightRule::metropolis), UsageError);
    return;
  }
  const Topology topology = make(WeightRule::metropolis);
  expect_consistent(topology);
  EXPECT_NO_THROW(topology.require_sender_sums());
  EXPECT_NO_THROW(topology.require_receiver_sums());
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
  return test_name(instance.param.family + "_" + std::to_string(instance.param.clients));
});

std::size_t edges_of(const std::string& spec, Client n) {
  return static_cast<std::size_t>(analyse(topology_of(*topology_table().make(spec, n, WeightRule::sender))).edges);
}

TEST(Families, HaveTheEdgesOfTheirNames) {
  EXPECT_EQ(edges_of("ring", 2), 2u);
  EXPECT_EQ(edges_of("ring", 6), 12u);
  EXPECT_EQ(edges_of("directed-ring", 6), 6u);
  EXPECT_EQ(edges_of("path", 6), 10u);
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

std::string refusal(const std::string& spec, Client n) {
  return message_of<UsageError>([&] { return topology_table().make(spec, n, WeightRule::sender); });
}

std::vector<Client> receivers(const Topology& topology, Client u, Round t = 0) {
  std::vector<Client> peers;
  for (const Arc& arc : topology.links(u, t).out) peers.push_back(arc.peer);
  return peers;
}

Topology made(const std::string& spec, Client n) {
  return topology_of(*topology_table().make(spec, n, WeightRule::sender));
}

TEST(Families, AGridEndsWhereATorusGoesRound) {
  EXPECT_EQ(receivers(made("grid", 12), 0), (std::vector<Client>{1, 4}));  // 3 rows of 4
  EXPECT_EQ(receivers(made("torus", 12), 0), (std::vector<Client>{1, 3, 4, 8}));
  EXPECT_EQ(receivers(made("torus:rows=2", 12), 0), (std::vector<Client>{1, 5, 6}));
  EXPECT_EQ(receivers(made("grid:columns=2", 12), 3), (std::vector<Client>{1, 2, 5}));
  EXPECT_EQ(made("torus", 17).digest(), made("ring", 17).digest());
  EXPECT_EQ(made("grid:rows=1,columns=9", 9).digest(), made("path", 9).digest());
}

TEST(Families, AHypercubeFlipsOneBit) {
  EXPECT_EQ(receivers(made("hypercube", 8), 5), (std::vector<Client>{1, 4, 7}));
  EXPECT_EQ(analyse(made("hypercube", 32)).diameter, 5);
}

TEST(Families, ABarbellHasOneBridge) {
  EXPECT_EQ(edges_of("barbell", 9), 4u * 3 + 5 * 4 + 2);
  EXPECT_EQ(receivers(made("barbell", 9), 3), (std::vector<Client>{0, 1, 2, 4}));
  EXPECT_EQ(receivers(made("barbell", 9), 4), (std::vector<Client>{3, 5, 6, 7, 8}));
}

void expect_regular(const Topology& topology, std::size_t degree) {
  for (Client u = 0; u < topology.clients(); ++u) ASSERT_EQ(topology.phase_links(0, u).out.size(), degree) << u;
}

TEST(Families, RandomRegularGivesEverybodyTheSameDegree) {
  for (Client n = 2; n <= 14; ++n) {
    for (Client degree = 0; degree < n; ++degree) {
      if (n * degree % 2 == 1) continue;
      for (const int seed : {1, 2, 3}) {
        const Topology topology = made(fmt::format("random-regular:degree={},seed={}", degree, seed), n);
        expect_regular(topology, static_cast<std::size_t>(degree));
        EXPECT_TRUE(symmetric(topology));
      }
    }
  }
  EXPECT_NE(made("random-regular:seed=1", 30).digest(), made("random-regular:seed=2", 30).digest());
}

TEST(Families, RandomRegularTakesManyClients) {
  const std::clock_t start = std::clock();  // the processor's time: a busy machine is no fault
  const Topology topology = made("random-regular:degree=8,seed=1", 100'000);
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
  expect_regular(topology, 8);
  EXPECT_TRUE(topology.ever_connects());
}

TEST(Families, SmallWorldMovesSomeEdgesOfARingAndKeepsTheirNumber) {
  EXPECT_EQ(made("small-world:neighbours=2,rewire=0", 20).digest(), made("ring", 20).digest());
  EXPECT_EQ(receivers(made("small-world:rewire=0", 20), 0), (std::vector<Client>{1, 2, 18, 19}));
  for (const char* rewire : {"0.1", "0.5", "1"}) {
    EXPECT_EQ(edges_of(fmt::format("small-world:rewire={}", rewire), 50), 200u);
  }
  EXPECT_LT(analyse(made("small-world", 100)).diameter, analyse(made("small-world:rewire=0", 100)).diameter);
  EXPECT_EQ(made("small-world:neighbours=6,rewire=1", 6).digest(), made("complete", 6).digest());
}

TEST(Families, RandomMatchingPairsEverybodyOrAllButOne) {
  for (const Client n : {8, 9}) {
    const Topology topology = made("random-matching:rounds=20", n);
    EXPECT_EQ(topology.period(), 20);
    for (Round t = 0; t < 20; ++t) {
      Client paired = 0;
      for (Client u = 0; u < n; ++u) {
        const std::vector<Client> peers = receivers(topology, u, t);
        ASSERT_LE(peers.size(), 1u);
        if (peers.empty()) continue;
        EXPECT_EQ(receivers(topology, peers[0], t), std::vector<Client>{u});
        ++paired;
      }
      EXPECT_EQ(paired, 8);
    }
  }
  EXPECT_NE(made("random-matching:seed=1", 8).digest(), made("random-matching:seed=2", 8).digest());
}

TEST(Families, BConnectedIsSparseAndConnectedOverItsWindow) {
  for (const int window : {1, 3, 10, 40}) {
    const Topology bare = made(fmt::format("b-connected:window={},extra=0", window), 12);
    EXPECT_EQ(bare.period(), window);
    const TopologyAnalysis analysis = analyse(bare);
    EXPECT_EQ(analysis.edges, 12);
    EXPECT_TRUE(analysis.joint_window.has_value());
  }
  const TopologyAnalysis dense = analyse(made("b-connected:extra=1", 12));
  EXPECT_TRUE(dense.joint_window && *dense.joint_window <= 4);
  EXPECT_NE(made("b-connected:seed=1", 12).digest(), made("b-connected:seed=2", 12).digest());
}

TEST(Families, RefuseWhatTheyCannotMake) {
  const std::vector<std::tuple<std::string, Client, std::string>> table = {
      {"torus:rows=5", 12, "5 rows"},
      {"grid:rows=3,columns=5", 12, "3 rows and 5 columns"},
      {"grid:rows=0", 12, "rows=0"},
      {"hypercube", 12, "12 clients"},
      {"barbell", 100'000, "Use fewer clients"},
      {"random-regular:degree=3", 5, "even"},
      {"random-regular:degree=5", 5, "degree=5"},
      {"random-regular:degree=-1", 5, "degree=-1"},
      {"small-world:neighbours=3", 9, "neighbours=3"},
      {"small-world:neighbours=10", 9, "neighbours=10"},
      {"small-world:rewire=2", 9, "rewire=2"},
      {"random-matching:rounds=0", 9, "rounds=0"},
      {"random-matching:rounds=1e9", 9, "rounds=1000000000"},
      {"b-connected:window=0", 9, "window=0"},
      {"b-connected:extra=nan", 9, "extra=nan"},
  };
  for (const auto& [spec, n, part] : table) {
    const std::string message = refusal(spec, n);
    EXPECT_THAT(message, HasSubstr(part)) << spec << ": " << message;
  }
}

// Every line of the rule and of its row is in the page, as an added line of its example.
TEST(Families, TheHowToPageAddsTheFamilyThatIsTested) {
  const std::filesystem::path source = source_folder();
  const std::string page = read_whole_file(source / "docs/how-to/add-a-topology.md").value();
  const std::string code = read_whole_file(source / "tests/graph/families/chords.hpp").value();
  const auto begin = code.find("  const auto reach");
  const auto end = code.find("  return std::make_unique");
  ASSERT_LT(begin, end);
  std::istringstream lines(code.substr(begin, end - begin));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(page, HasSubstr("\n+" + line + "\n")) << "the page lacks: " << line;
  }
  const TopologyTable::Row row = chords_row();
  for (const std::string& text : {row.name, row.help, row.parameters[0].key, row.parameters[0].help}) {
    EXPECT_NE(page.find('"' + text + '"'), std::string::npos) << "the page lacks: " << text;
  }
}

TEST(Families, ManyClientsAreNoTrouble) {
  const auto topology = topology_table().make("directed-ring", 100'000, WeightRule::sender);
  EXPECT_EQ(topology->links(99'999, 5).out, (std::vector<Arc>{{0, 0.5}}));
}

}  // namespace starling::families_test
