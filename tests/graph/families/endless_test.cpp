// What every row of the table of endless families owes, whoever adds it.
#include "graph/families/endless.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "graph/analysis/analysis.hpp"
#include "support/testing.hpp"

namespace starling::endless_test {

using namespace testing_support;

struct Case {
  std::string spec;
  Client clients;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.spec << " of " << c.clients; }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& row : endless_table().rows()) {
    for (const Client n : {1, 2, 3, 5, 8, 17, 40}) cases.push_back({row.name + ":rounds=endless", n});
  }
  for (const Client n : {2, 3, 17}) {
    cases.push_back({"erdos-renyi:directed=1,rounds=endless", n});
    cases.push_back({"erdos-renyi:p=1,rounds=endless", n});
    cases.push_back({"b-connected:window=7,extra=1,rounds=endless", n});
    cases.push_back({"b-connected:window=1,extra=0,rounds=endless", n});
    cases.push_back({"random-regular:degree=1,rounds=endless", n});
  }
  return cases;
}

class Endless : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static std::unique_ptr<Graph> make(WeightRule rule = WeightRule::sender) {
    return make_graph(GetParam().spec, GetParam().clients, rule);
  }
};

bool ascending_without(const std::vector<Arc>& arcs, Client self) {
  const auto before = [](const Arc& a, const Arc& b) { return a.peer >= b.peer; };
  return std::adjacent_find(arcs.begin(), arcs.end(), before) == arcs.end() &&
         std::none_of(arcs.begin(), arcs.end(), [&](const Arc& arc) { return arc.peer == self; });
}

void expect_both_ends_agree(const Schedule& graph, Round t) {
  std::size_t sent = 0;
  std::size_t received = 0;
  for (Client u = 0; u < graph.clients(); ++u) {
    const Links links = graph.links(u, t);
    EXPECT_TRUE(ascending_without(links.out, u) && ascending_without(links.in, u)) << "client " << u;
    EXPECT_TRUE(links.lost.empty());
    sent += links.out.size();
    received += links.in.size();
    for (const Arc& arc : links.in) {
      const std::vector<Arc> out = graph.links(arc.peer, t).out;
      EXPECT_NE(std::find(out.begin(), out.end(), Arc{u, arc.weight}), out.end()) << arc.peer << " to " << u;
    }
  }
  EXPECT_EQ(sent, received);
}

TEST_P(Endless, BothEndsOfEachEdgeAgree) {
  const auto graph = make();
  for (const Round t : {0, 1, 2, 9, 1'000'000'007}) expect_both_ends_agree(*graph, t);
}

TEST_P(Endless, SenderSumsAreOneWithEqualShares) {
  const auto graph = make();
  for (Round t = 0; t < 10; ++t) {
    for (Client u = 0; u < graph->clients(); ++u) {
      const Links links = graph->links(u, t);
      EXPECT_NEAR(links.own + links.share * (sender_sum(links) - links.own), 1, 1e-15);
      for (const Arc& arc : links.out) EXPECT_EQ(links.share * arc.weight, links.own);
    }
  }
}

TEST_P(Endless, SaysRightlyWhetherReceiverSumsAreOne) {
  const auto graph = make();
  const bool one = analyse(GraphSample(*graph)).receiver_sums.is_one();
  const std::string complaint = message_of<UsageError>([&] { graph->require_receiver_sums(); });
  EXPECT_TRUE(one || !complaint.empty()) << "of sums that are not one, nothing was said";
}

TEST_P(Endless, FollowsOtherRulesOnlyWhereBothEndsKnowTheWeights) {
  const auto sender = make();
  for (const WeightRule rule : {WeightRule::receiver, WeightRule::metropolis}) {
    std::unique_ptr<Graph> graph;
    const std::string refusal = message_of<UsageError>([&] { graph = make(rule); });
    if (!graph) {
      EXPECT_THAT(refusal, HasSubstr(name_of(rule)));
      continue;
    }
    EXPECT_NO_THROW(graph->require_receiver_sums());
    for (Client u = 0; u < graph->clients(); ++u) EXPECT_EQ(graph->links(u, 3), sender->links(u, 3));
    EXPECT_NE(graph->digest(), sender->digest());
  }
  EXPECT_THROW(make(WeightRule::explicit_weights), UsageError);
}

TEST_P(Endless, ConnectsWithinItsSampleOrSaysThatItMayTakeLonger) {
  const auto graph = make();
  EXPECT_TRUE(graph->ever_connects());
  const TopologyAnalysis analysis = analyse(GraphSample(*graph));
  EXPECT_TRUE(analysis.joint_window.has_value());
  EXPECT_TRUE(analysis.rounds_to_1e_3.has_value());
}

TEST_P(Endless, IsTheSameWhoeverAsksInWhateverOrder) {
  const auto graph = make();
  std::vector<Links> forwards;
  for (Client u = 0; u < graph->clients(); ++u) forwards.push_back(graph->links(u, 6));
  const auto again = make();
  for (Client u = graph->clients(); u-- > 0;) {
    static_cast<void>(again->links(u, 5));
    EXPECT_EQ(again->links(u, 6), forwards[static_cast<std::size_t>(u)]);
  }
}

TEST_P(Endless, ItsTextGivesItBack) {
  const auto graph = make();
  const auto again = parse_graph(graph->text(), "text");
  EXPECT_EQ(again->digest(), graph->digest());
  EXPECT_EQ(again->text(), graph->text());
  for (Client u = 0; u < graph->clients(); ++u) EXPECT_EQ(again->links(u, 8), graph->links(u, 8));
  // A graph that repeats can be written out as a table.
  if (graph->period() == 0) {
    EXPECT_THROW(static_cast<void>(Topology::parse(graph->text(), "text")), UsageError);
  } else {
    EXPECT_EQ(Topology::parse(graph->text(), "text").period(), graph->period());
  }
}

TEST_P(Endless, RefusesClientsAndRoundsThatAreNone) {
  const auto graph = make();
  EXPECT_THROW(static_cast<void>(graph->links(graph->clients(), 0)), UsageError);
  EXPECT_THROW(static_cast<void>(graph->links(-1, 0)), UsageError);
  EXPECT_THROW(static_cast<void>(graph->links(0, -1)), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Table, Endless, testing::ValuesIn(all_cases()), [](const auto& instance) {
  return test_name(instance.param.spec + "_" + std::to_string(instance.param.clients));
});

std::vector<std::vector<Client>> receivers(const Schedule& graph, Round t) {
  std::vector<std::vector<Client>> all;
  for (Client u = 0; u < graph.clients(); ++u) {
    all.emplace_back();
    for (const Arc& arc : graph.links(u, t).out) all.back().push_back(arc.peer);
  }
  return all;
}

std::unique_ptr<Graph> made(const std::string& spec, Client n) {
  return make_graph(spec + ",rounds=endless", n, WeightRule::sender);
}

TEST(EndlessFamilies, NeverRepeat) {
  for (const char* spec :
       {"random-matching:seed=1", "b-connected:seed=1", "erdos-renyi:seed=1", "random-regular:seed=1"}) {
    const auto graph = made(spec, 30);
    EXPECT_EQ(graph->period(), 0);
    std::set<std::vector<std::vector<Client>>> different;
    for (Round t = 0; t < 200; ++t) different.insert(receivers(*graph, t));
    EXPECT_EQ(different.size(), 200u) << spec;
  }
}

TEST(EndlessFamilies, FollowTheirSeeds) {
  for (const char* family : {"random-matching", "b-connected", "erdos-renyi", "random-regular"}) {
    const auto one = made(fmt::format("{}:seed=1", family), 30);
    const auto two = made(fmt::format("{}:seed=2", family), 30);
    EXPECT_NE(one->digest(), two->digest());
    EXPECT_NE(receivers(*one, 0), receivers(*two, 0));
  }
}

TEST(EndlessFamilies, OnePeerExponentialIsTheOneThatIsWrittenOut) {
  for (const Client n : {1, 2, 3, 6, 8, 100}) {
    const auto endless = make_graph("one-peer-exponential:rounds=endless", n, WeightRule::sender);
    const auto written = topology_table().make("one-peer-exponential", n, WeightRule::sender);
    EXPECT_EQ(endless->period(), written->period());
    for (Round t = 0; t < 2 * endless->period(); ++t) {
      for (Client u = 0; u < n; ++u) EXPECT_EQ(endless->links(u, t), written->links(u, t)) << n;
    }
  }
}

TEST(EndlessFamilies, BConnectedConnectsInEveryWindowFromWhateverRound) {
  for (const Client n : {5, 20}) {
    for (const Round window : {1, 2, 3, 8}) {
      const auto graph = made(fmt::format("b-connected:window={},extra=0.5", window), n);
      for (Round start : {0, 1, 2, 3, 4, 5, 6, 7, 1'000'001}) {
        std::vector<Edge> edges;
        std::set<std::pair<Client, Client>> known;
        for (Round t = start; t < start + window; ++t) {
          for (Client u = 0; u < n; ++u) {
            for (const Arc& arc : graph->links(u, t).out) {
              if (known.emplace(u, arc.peer).second) edges.push_back({u, arc.peer});
            }
          }
        }
        EXPECT_TRUE(Topology(n, WeightRule::sender, edges, {}).ever_connects()) << window << " from " << start;
      }
    }
  }
}

TEST(EndlessFamilies, BConnectedWithoutExtrasIsACircleDealtToItsWindow) {
  const auto graph = made("b-connected:window=6,extra=0", 25);
  std::size_t edges = 0;
  for (Round t = 12; t < 18; ++t) {
    for (const auto& peers : receivers(*graph, t)) edges += peers.size();
    EXPECT_EQ(receivers(*graph, t), receivers(*graph, t + 6));
  }
  EXPECT_EQ(edges, 25u);
}

TEST(EndlessFamilies, MatchingsPairEverybodyOrAllButOne) {
  for (const Client n : {8, 9}) {
    const auto graph = made("random-matching:seed=4", n);
    for (Round t = 0; t < 100; ++t) {
      const auto peers = receivers(*graph, t);
      const auto resting = std::count_if(peers.begin(), peers.end(), [](const auto& each) { return each.empty(); });
      EXPECT_EQ(resting, n % 2);
    }
  }
}

TEST(EndlessFamilies, RegularOnesGiveEverybodyTheSameDegrees) {
  for (const int degree : {1, 2, 5, 10}) {
    const auto graph = made(fmt::format("random-regular:degree={}", degree), 11);
    for (Round t = 0; t < 20; ++t) {
      for (Client u = 0; u < 11; ++u) {
        const Links links = graph->links(u, t);
        EXPECT_EQ(links.out.size(), static_cast<std::size_t>(degree));
        EXPECT_EQ(links.in.size(), static_cast<std::size_t>(degree));
      }
    }
  }
}

TEST(EndlessFamilies, RefuseWhatTheyCannotMake) {
  const std::vector<std::tuple<std::string, Client, std::string>> table = {
      {"ring:rounds=endless", 9, "unknown endless topology family 'ring'"},
      {"random-matching:rounds=endless,window=3", 9, "window"},
      {"b-connected:window=0,rounds=endless", 9, "window=0"},
      {"b-connected:extra=2,rounds=endless", 9, "extra=2"},
      {"erdos-renyi:p=-1,rounds=endless", 9, "p=-1"},
      {"erdos-renyi:directed=2,rounds=endless", 9, "directed=2"},
      {"random-regular:degree=9,rounds=endless", 9, "degree=9"},
      {"random-regular:degree=0,rounds=endless", 9, "degree=0"},
  };
  for (const auto& [spec, n, part] : table) {
    const std::string message = message_of<UsageError>(
        [&, &text = spec, &clients = n] { return make_graph(text, clients, WeightRule::sender); });
    EXPECT_THAT(message, HasSubstr(part)) << spec << ": " << message;
  }
  EXPECT_FALSE(make_graph("erdos-renyi:p=0,rounds=endless", 9, WeightRule::sender)->ever_connects());
}

}  // namespace starling::endless_test
