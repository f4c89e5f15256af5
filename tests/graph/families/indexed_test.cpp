// Graphs whose rows follow from a client's number: each row is equal to the row of the written-out graph, bit for bit.
#include "graph/families/indexed.hpp"

#include <cmath>
#include <memory>
#include <set>

#include "graph/analysis/analysis.hpp"
#include "numbers_of_clients.hpp"
#include "support/testing.hpp"

namespace starling::indexed_test {

using namespace testing_support;

struct Case {
  std::string family;
  Client clients;
  WeightRule rule;
  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << c.family << " of " << c.clients << " by " << name_of(c.rule);
  }
};

/// Families that list all edges.
const std::set<std::string> by_table = {"erdos-renyi", "random-regular", "small-world", "random-matching",
                                        "b-connected"};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& row : topology_table().rows()) {
    if (by_table.contains(row.name)) continue;
    for (const Client n : taken(row.name, {1, 2, 3, 4, 5, 8, 12, 16, 17, 30})) {
      for (const WeightRule rule : {WeightRule::sender, WeightRule::receiver, WeightRule::metropolis}) {
        cases.push_back({row.name, n, rule});
      }
    }
  }
  return cases;
}

class Indexed : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static std::unique_ptr<Graph> make() {
    return make_graph(GetParam().family, GetParam().clients, GetParam().rule);
  }
  [[nodiscard]] static Topology twin() { return topology_of(*make()); }
  /// Whether the rule fits the graph.
  [[nodiscard]] static bool fits() {
    try {
      static_cast<void>(make());
    } catch (const UsageError&) {
      return false;
    }
    return true;
  }
};

TEST_P(Indexed, HasTheRowsOfItsTwin) {
  if (!fits()) {
    // Topology finds the same client without an edge back, in the edges under another rule.
    const auto edges_of = [](const Graph& graph) {
      std::vector<Topology::Phase> phases(static_cast<std::size_t>(graph.period()));
      for (Round t = 0; t < graph.period(); ++t) {
        for (Client u = 0; u < graph.clients(); ++u) {
          auto& edges = phases[static_cast<std::size_t>(t)].edges;
          for (const Arc& arc : graph.links(u, t).out) edges.push_back({u, arc.peer});
        }
      }
      return phases;
    };
    const auto by_sender = make_graph(GetParam().family, GetParam().clients, WeightRule::sender);
    const auto refusal = message_of<UsageError>(
        [&] { return Topology(GetParam().clients, GetParam().rule, {}, edges_of(*by_sender), GetParam().family); });
    EXPECT_EQ(message_of<UsageError>([] { return make(); }), refusal);
    return;
  }
  const auto graph = make();
  const Topology topology = twin();
  ASSERT_EQ(dynamic_cast<Topology*>(graph.get()), nullptr);
  ASSERT_EQ(graph->period(), topology.period());
  EXPECT_EQ(graph->telling_rounds(), topology.telling_rounds());
  EXPECT_TRUE(graph->ever_connects());
  EXPECT_TRUE(topology.ever_connects());
  for (Round t = 0; t < 2 * graph->period() + 1; ++t) {
    for (Client u = 0; u < graph->clients(); ++u) {
      ASSERT_EQ(graph->links(u, t), topology.links(u, t)) << "client " << u << " in round " << t;
    }
  }
}

TEST_P(Indexed, HasTheDigestAndTextOfItsTwinAndRefusesTheSameSums) {
  if (!fits() || GetParam().family == "random-circles") GTEST_SKIP() << "no twin in rule and text";
  const auto graph = make();
  const Topology topology = twin();
  EXPECT_EQ(graph->digest(), topology.digest());
  EXPECT_EQ(graph->text(), topology.text());
  EXPECT_EQ(graph->rule(), topology.rule());
  const auto complaint = [](const Graph& of, void (Graph::*require)() const) -> std::string {
    try {
      (of.*require)();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  for (const auto require : {&Graph::require_sender_sums, &Graph::require_receiver_sums}) {
    EXPECT_EQ(complaint(*graph, require), complaint(topology, require));
  }
}

TEST_P(Indexed, IsAnalysedAsItsTwinIs) {
  if (!fits() || GetParam().clients > 12) GTEST_SKIP() << "not of interest";
  const auto graph = make();
  const GraphSample sample(*graph);
  EXPECT_FALSE(sample.rounds().has_value());
  const TopologyAnalysis ours = analyse(sample);
  const TopologyAnalysis theirs = analyse(twin());
  EXPECT_EQ(ours.edges, theirs.edges);
  EXPECT_EQ(ours.joint_window, theirs.joint_window);
  EXPECT_EQ(ours.diameter, theirs.diameter);
  EXPECT_EQ(ours.perron, theirs.perron);
  EXPECT_EQ(ours.contraction, theirs.contraction);
}

TEST_P(Indexed, ReadsBackFromItsText) {
  if (!fits()) GTEST_SKIP() << "the rule does not fit";
  const auto graph = make();
  const auto again = parse_graph(graph->text(), "text");
  for (Round t = 0; t < graph->period(); ++t) {
    for (Client u = 0; u < graph->clients(); ++u) ASSERT_EQ(again->links(u, t), graph->links(u, t));
  }
}

INSTANTIATE_TEST_SUITE_P(AllRows, Indexed, testing::ValuesIn(all_cases()), [](const auto& instance) {
  return test_name(
      fmt::format("{}_{}_{}", instance.param.family, instance.param.clients, name_of(instance.param.rule)));
});

TEST(IndexedSpecs, AreCheckedLikeThoseOfTheirTwins) {
  const auto refusal = [](const std::string& spec, Client n) {
    return message_of<UsageError>([&] { return make_graph(spec, n, WeightRule::sender); });
  };
  EXPECT_THAT(refusal("torus:rows=5", 12), HasSubstr("do not fill 5 rows"));
  EXPECT_THAT(refusal("hypercube", 12), HasSubstr("1, 2, 4, 8"));
  EXPECT_THAT(refusal("ring:degree=4", 12), HasSubstr("degree"));
  EXPECT_THAT(refusal("random-circles:degree=5", 12), HasSubstr("an even number"));
  EXPECT_THAT(refusal("rings", 12), HasSubstr("random-circles"));
  const auto graph = make_graph("torus:rows=3", 12, WeightRule::sender);
  EXPECT_EQ(graph->digest(), topology_table().make("torus:columns=4", 12, WeightRule::sender)->digest());
}

TEST(IndexedGraphs, RefuseClientsAndRoundsThatAreNotThere) {
  const auto graph = make_graph("ring", 5, WeightRule::sender);
  EXPECT_ERROR(UsageError, "clients are 0 to 4", graph->links(5, 0));
  EXPECT_ERROR(UsageError, "round -1", graph->links(0, -1));
}

// Neighbours come in pairs, one circle being one pair; those of another seed are others.
TEST(RandomCircles, GiveAllTheSameDegreeAndWeight) {
  constexpr Client n = 1'000;
  const auto graph = make_graph("random-circles:degree=6,seed=3", n, WeightRule::metropolis);
  const auto other = make_graph("random-circles:degree=6,seed=4", n, WeightRule::metropolis);
  EXPECT_EQ(graph->period(), 1);
  int same = 0;
  int doubled = 0;
  for (Client u = 0; u < n; ++u) {
    const Links row = graph->links(u, 17);
    double weight = 0;
    for (const Arc& arc : row.out) {
      weight += arc.weight;
      EXPECT_NEAR(7 * arc.weight, std::round(7 * arc.weight), 1e-12);
      doubled += arc.weight > 1.5 / 7 ? 1 : 0;
    }
    EXPECT_EQ(row.in, row.out);
    EXPECT_NEAR(weight, 6.0 / 7, 1e-12);
    EXPECT_DOUBLE_EQ(row.own, 1.0 / 7);
    same += row.out == other->links(u, 0).out ? 1 : 0;
  }
  EXPECT_LT(doubled, 60);  // two edges of a pair of circles are shared on average, 12 ends in all; Poisson
  EXPECT_EQ(same, 0);
}

TEST(RandomCircles, MixLikeRandomRegularGraphs) {
  // Friedman: eigenvalues of a random regular graph of degree 8 come up to 2√7; of 2,000 clients within some percent.
  const auto graph = make_graph("random-circles:degree=8,seed=1", 2'000, WeightRule::sender);
  const TopologyAnalysis analysis = analyse(GraphSample(*graph));
  EXPECT_NEAR(analysis.contraction, (1 + 2 * std::sqrt(7.0)) / 9, 0.02);
  EXPECT_EQ(analysis.joint_window, 1);
}

}  // namespace starling::indexed_test
