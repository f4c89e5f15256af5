#include "graph/analysis/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "support/sanitized.hpp"
#include "support/slow.hpp"

namespace starling::analysis_test {

using testing::HasSubstr;

TopologyAnalysis analysis_of(const std::string& text) {
  return analyse(Topology::parse(text, "f.topo"));
}

TopologyAnalysis analysis_of_family(const std::string& spec, Client n, WeightRule rule = WeightRule::sender) {
  return analyse(topology_of(*topology_table().make(spec, n, rule)));
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t u = 0; u < actual.size(); ++u) EXPECT_NEAR(actual[u], expected[u], 1e-12) << "client " << u;
}

TEST(Analysis, UnbalancedDigraph) {
  const TopologyAnalysis analysis = analysis_of("clients 3\nedge 0 1\nedge 0 2\nedge 1 2\nedge 2 0\n");
  expect_near(analysis.perron, {1.0 / 3, 2.0 / 9, 4.0 / 9});
  EXPECT_NEAR(analysis.bias, 1.0 / 3, 1e-12);
  EXPECT_NEAR(analysis.contraction, std::sqrt(1.0 / 12), 1e-12);  // eigenvalues 1, (2 ± i√8)/12
  EXPECT_EQ(analysis.rounds_to_1e_3, 6);
  EXPECT_TRUE(analysis.sender_sums.is_one());
  EXPECT_NEAR(analysis.receiver_sums.min, 5.0 / 6, 1e-12);
  EXPECT_NEAR(analysis.receiver_sums.max, 4.0 / 3, 1e-12);
  EXPECT_EQ(analysis.edges, 4);
  EXPECT_EQ(analysis.strongly_connected, std::vector<bool>{true});
  EXPECT_EQ(analysis.joint_window, 1);
  EXPECT_EQ(analysis.diameter, 2);
}

TEST(Analysis, ReceiverWeightsGiveTheWeightOfEachStart) {
  // A = [1/2 1/2; 0 1] would not connect; A = [1/2 1/2; 1/3 2/3] has the left vector (2/5, 3/5).
  const TopologyAnalysis analysis =
      analysis_of("clients 2\nweights explicit\nedge 0 0 1/2\nedge 1 0 1/2\nedge 0 1 1/3\nedge 1 1 2/3\n");
  expect_near(analysis.perron, {0.4, 0.6});
  EXPECT_NEAR(analysis.bias, 0.2, 1e-12);
  EXPECT_NEAR(analysis.contraction, 1.0 / 6, 1e-12);
}

TEST(Analysis, SumsThatAreNotOneStillHaveALimitDirection) {
  // A = [1/2 1; 1/2 1/4]: eigenvalues (3 ± √33)/8.
  const TopologyAnalysis analysis =
      analysis_of("clients 2\nweights explicit\nedge 0 0 1/2\nedge 1 0 1\nedge 0 1 1/2\nedge 1 1 1/4\n");
  EXPECT_NEAR(analysis.contraction, (std::sqrt(33) - 3) / (std::sqrt(33) + 3), 1e-12);
  const double largest = (3 + std::sqrt(33)) / 8;
  EXPECT_NEAR(analysis.perron[0] / analysis.perron[1], 1 / (largest - 0.5), 1e-12);
  EXPECT_NEAR(analysis.perron[0] + analysis.perron[1], 1, 1e-12);
}

TEST(Analysis, KnownRates) {
  const double eighth = std::numbers::pi / 4;
  EXPECT_NEAR(analysis_of_family("ring", 8).contraction, (1 + 2 * std::cos(eighth)) / 3, 1e-12);
  EXPECT_NEAR(analysis_of_family("directed-ring", 8).contraction, std::cos(eighth / 2), 1e-12);
  EXPECT_NEAR(analysis_of_family("exponential", 16).contraction, 0.6, 1e-12);
  EXPECT_EQ(analysis_of_family("ring", 8).rounds_to_1e_3, 32);
}

TEST(Analysis, ExactAveragesAreSeenAsSuch) {
  for (const Client n : {1, 2, 5, 17}) {
    const TopologyAnalysis analysis = analysis_of_family("complete", n);
    EXPECT_EQ(analysis.contraction, 0) << n;
    EXPECT_EQ(analysis.rounds_to_1e_3, 1) << n;
  }
  const TopologyAnalysis one_peer = analysis_of_family("one-peer-exponential", 16);
  EXPECT_EQ(one_peer.contraction, 0);
  EXPECT_EQ(one_peer.rounds_to_1e_3, 4);
  // A de Bruijn graph: u sends to 2u and 2u + 1 mod 16; exact after four rounds, though its eigenvalues, in floating
  // point, look like 1e-4.
  std::string text = "clients 16\nweights explicit\n";
  for (int u = 0; u < 16; ++u) {
    for (int bit = 0; bit < 2; ++bit) text += fmt::format("edge {} {} 0.5\n", u, (2 * u + bit) % 16);
  }
  const TopologyAnalysis de_bruijn = analysis_of(text);
  EXPECT_EQ(de_bruijn.contraction, 0);
  EXPECT_EQ(de_bruijn.rounds_to_1e_3, 4);
}

TEST(Analysis, SmallButTrueRatesAreKept) {
  // Two clients that keep 0.5005 and give 0.4995: second eigenvalue 1e-3.
  const TopologyAnalysis analysis =
      analysis_of("clients 2\nweights explicit\nedge 0 0 0.5005\nedge 0 1 0.4995\nedge 1 0 0.4995\nedge 1 1 0.5005\n");
  EXPECT_NEAR(analysis.contraction, 1e-3, 1e-12);
  EXPECT_EQ(analysis.rounds_to_1e_3, 1);
}

TEST(Analysis, WhatOscillatesNeverConverges) {
  const TopologyAnalysis analysis = analysis_of("clients 3\nweights explicit\nedge 0 1 1\nedge 1 2 1\nedge 2 0 1\n");
  EXPECT_NEAR(analysis.contraction, 1, 1e-12);
  EXPECT_EQ(analysis.rounds_to_1e_3, std::nullopt);
  EXPECT_EQ(analysis.joint_window, 1);
  EXPECT_THAT(why_no_agreement(analysis), HasSubstr("never falls"));
}

TEST(Analysis, TellsWhichGraphsNeverAgree) {
  const auto cycle = [](int clients) {
    std::string text = fmt::format("clients {}\nweights explicit\n", clients);
    for (int u = 0; u < clients; ++u) text += fmt::format("edge {} {} 1\n", u, (u + 1) % clients);
    return parse_graph(text, "f.topo");
  };
  EXPECT_THAT(why_no_agreement(*cycle(4)), HasSubstr("Give clients self loops"));
  EXPECT_EQ(why_no_agreement(*cycle(most_clients_analysed + 1)), "");
  EXPECT_THAT(why_no_agreement(analysis_of("clients 3\nedge 0 1\nedge 1 2\n")),
              HasSubstr("every edge goes one way, and none back. Add edges in the other direction"));
  EXPECT_THAT(why_no_agreement(analysis_of("clients 4\nedge 0 1\nedge 1 0\nedge 2 3\nedge 3 2\n")),
              HasSubstr("clients would never agree. Add edges"));
  EXPECT_THAT(why_no_agreement(analysis_of("clients 4\nedge 1 2\nedge 2 1\n")),
              HasSubstr("client 0 and 1 more have no edge to another"));
  EXPECT_EQ(why_no_agreement(*parse_graph("clients 1\nweights explicit\nedge 0 0 1\n", "f.topo")), "");
  EXPECT_EQ(why_no_agreement(*make_graph("directed-ring", 4, WeightRule::sender)), "");
}

TEST(Analysis, WhatIsNotConnectedHasNoWindow) {
  for (const std::string edges : {"", "edge 0 1\n", "edge 0 1\nedge 1 2\n", "edge 0 1\nedge 1 0\n"}) {
    const TopologyAnalysis analysis = analysis_of("clients 3\n" + edges);
    EXPECT_EQ(analysis.joint_window, std::nullopt);
    EXPECT_EQ(analysis.diameter, std::nullopt);
    EXPECT_EQ(analysis.rounds_to_1e_3, std::nullopt);
    EXPECT_TRUE(analysis.perron.empty());
    EXPECT_TRUE(std::isnan(analysis.bias));
  }
}

TEST(Analysis, JointWindowCountsRounds) {
  const std::string ring[] = {"edge 0 1\n", "edge 1 2\n", "edge 2 0\n"};
  const auto window = [](const std::string& phases) { return analysis_of("clients 3\n" + phases).joint_window; };
  EXPECT_EQ(window(ring[0] + ring[1] + ring[2]), 1);
  EXPECT_EQ(window("phase 1\n" + ring[0] + ring[1] + "phase 1\n" + ring[2]), 2);
  // The worst window starts with the four rounds and needs one of the next phase.
  EXPECT_EQ(window("phase 4\n" + ring[0] + ring[1] + "phase 1\n" + ring[2]), 5);
  EXPECT_EQ(window("phase 2\n" + ring[0] + "phase 3\n" + ring[1] + "phase 5\n" + ring[2]), 9);
  // Connected by itself in one phase, idle for seven rounds: the worst window starts with the idling.
  EXPECT_EQ(window("phase 2\n" + ring[0] + ring[1] + ring[2] + "phase 7\n"), 8);
}

/// The definition itself: tries every window of every length.
std::optional<Round> window_by_trial(const Topology& topology) {
  for (Round length = 1; length <= topology.period(); ++length) {
    bool always = true;
    for (Round start = 0; start < topology.period() && always; ++start) {
      std::vector<std::vector<bool>> reach(static_cast<std::size_t>(topology.clients()),
                                           std::vector<bool>(static_cast<std::size_t>(topology.clients())));
      const std::size_t n = reach.size();
      for (std::size_t u = 0; u < n; ++u) {
        reach[u][u] = true;
        for (Round t = start; t < start + length; ++t) {
          for (const Arc& arc : topology.links(static_cast<Client>(u), t).out) {
            reach[u][static_cast<std::size_t>(arc.peer)] = true;
          }
        }
      }
      for (std::size_t via = 0; via < n; ++via) {
        for (std::size_t u = 0; u < n; ++u) {
          for (std::size_t v = 0; v < n; ++v) reach[u][v] = reach[u][v] || (reach[u][via] && reach[via][v]);
        }
      }
      for (const auto& row : reach) always = always && std::find(row.begin(), row.end(), false) == row.end();
    }
    if (always) return length;
  }
  return std::nullopt;
}

TEST(Analysis, JointWindowIsWhatTheDefinitionSays) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    AddressedRandom random(seed, Purpose::experiment, 0, 0);
    const auto n = static_cast<Client>(2 + random.below(3));
    std::vector<Topology::Phase> phases(1 + random.below(5));
    for (Topology::Phase& phase : phases) {
      phase.rounds = static_cast<Round>(1 + random.below(3));
      for (Client u = 0; u < n; ++u) {
        for (Client v = 0; v < n; ++v) {
          if (u != v && random.below(4) == 0) phase.edges.push_back({u, v});
        }
      }
    }
    const Topology topology(n, WeightRule::sender, {}, phases);
    EXPECT_EQ(analyse(topology).joint_window, window_by_trial(topology)) << topology.text();
  }
}

TEST(Analysis, LongPhasesAreNoTrouble) {
  const TopologyAnalysis analysis =
      analysis_of("clients 3\nphase 1e9\nedge 0 1\nedge 1 0\nphase 1e9\nedge 1 2\nedge 2 1\n");
  EXPECT_EQ(analysis.joint_window, 1'000'000'001);
  EXPECT_EQ(analysis.diameter, 2);
  expect_near(analysis.perron, {1.0 / 3, 1.0 / 3, 1.0 / 3});
}

// At a contraction of one half ten rounds would do, but client 0 hears nothing for a billion rounds.
TEST(Analysis, RoundsAreNoFewerThanTheWindow) {
  const std::string text = "clients 2\nphase 1e9\nedge 0 1\nphase 1\nedge 1 0\n";
  const TopologyAnalysis analysis = analysis_of(text);
  EXPECT_NEAR(analysis.contraction, 0.5, 1e-9);
  EXPECT_EQ(analysis.joint_window, 1'000'000'001);
  EXPECT_EQ(analysis.rounds_to_1e_3, 1'000'000'001);
  EXPECT_EQ(joint_window_of(*parse_graph(text, "f.topo")), 1'000'000'001);
  EXPECT_EQ(joint_window_of(*make_graph("ring", 5, WeightRule::sender)), 1);
  EXPECT_EQ(joint_window_of(*make_graph("random-matching:rounds=endless", 4, WeightRule::sender)), std::nullopt);
  EXPECT_EQ(joint_window_of(*make_graph("exponential", most_clients_analysed + 1, WeightRule::sender)), std::nullopt);
}

TEST(Analysis, ContractionsOfLargeGraphsAndOfGraphsWithoutEnd) {
  const auto contraction = [](const char* spec, Client clients) {
    return contraction_of(*make_graph(spec, clients, WeightRule::sender));
  };
  EXPECT_NEAR(*contraction("exponential", 512), 0.8, 0.03);  // log2(n) peers and the client itself: 1 - 2/10
  EXPECT_GT(*contraction("ring", 1000), 0.98);
  EXPECT_EQ(contraction("exponential", most_clients_of_contraction + 1), std::nullopt);
  // Two at a time average: a pair's disagreement is gone, and what is left between pairs falls to about half.
  const std::optional<double> matching = contraction("random-matching:rounds=endless", 32);
  ASSERT_TRUE(matching);
  EXPECT_GT(*matching, 0.5);
  EXPECT_LT(*matching, 0.9);
}

// What many rounds leave is below what a double resolves beside one, and yet no round makes disagreement vanish.
TEST(Analysis, LongPhasesDoNotMakeAveragesExact) {
  const Client many = testing_support::sanitized ? 60 : 600;  // whose dense spectrum takes minutes with sanitizers
  for (const Client n : {8, many}) {
    std::string edges;
    for (Client u = 0; u < n; ++u) {
      edges += "edge " + std::to_string(u) + ' ' + std::to_string((u + 1) % n) + '\n';
      edges += "edge " + std::to_string(u) + ' ' + std::to_string((u + n - 1) % n) + '\n';
    }
    const double rate = (1 + 2 * std::cos(2 * std::numbers::pi / n)) / 3;
    const double rounds = std::log(1e-3) / std::log(rate);
    const std::string header = "clients " + std::to_string(n) + '\n';
    const std::string phase = "phase 10000000\n" + edges;
    for (const std::string& text : {header + phase, header + phase + "phase 3000000\n" + edges}) {
      const TopologyAnalysis analysis = analysis_of(text);
      EXPECT_NEAR(analysis.contraction, rate, 1e-9 * rate) << n;
      ASSERT_TRUE(analysis.rounds_to_1e_3.has_value()) << n;
      EXPECT_NEAR(static_cast<double>(*analysis.rounds_to_1e_3), rounds, 1 + 1e-6 * rounds) << n;
    }
  }
}

// A round of a star halves disagreement, and one of a complete graph ends it: only the latter counts as exact.
TEST(Analysis, LongPhasesEndExactlyWhereARoundDoes) {
  const auto star = [](Client n) {
    std::string text;
    for (Client u = 1; u < n; ++u) {
      text += "edge 0 " + std::to_string(u) + "\nedge " + std::to_string(u) + " 0\n";
    }
    return text;
  };
  const std::string fading = "clients 9\nphase 40\n" + star(9) + "phase 3\n" + star(9);
  const TopologyAnalysis few = analysis_of(fading);
  EXPECT_NEAR(few.contraction, 0.5, 1e-9);
  EXPECT_EQ(few.rounds_to_1e_3, 10);
  std::string complete = "phase 1\n";
  for (Client u = 0; u < 9; ++u) {
    for (Client v = 0; v < 9; ++v) {
      if (u != v) complete += "edge " + std::to_string(u) + ' ' + std::to_string(v) + '\n';
    }
  }
  const TopologyAnalysis ended = analysis_of(fading + complete);
  EXPECT_EQ(ended.contraction, 0);
  EXPECT_EQ(ended.rounds_to_1e_3, 44);
  const TopologyAnalysis many = analysis_of("clients 1201\nphase 40\n" + star(1201) + "phase 3\n" + star(1201));
  EXPECT_NE(many.contraction, 0) << "iterations cannot tell how little is left, which is not nothing";
  EXPECT_EQ(many.rounds_to_1e_3, std::nullopt);
}

TEST(Analysis, ManyClientsByIterations) {
  const TopologyAnalysis exponential = analysis_of_family("exponential", 2048);
  EXPECT_NEAR(exponential.contraction, 1 - 2.0 / 12, 1e-4);
  EXPECT_EQ(exponential.diameter, std::nullopt);
  const TopologyAnalysis complete = analysis_of_family("complete", 1001);
  EXPECT_EQ(complete.contraction, 0);
  EXPECT_EQ(complete.rounds_to_1e_3, 1);
  const TopologyAnalysis one_peer = analysis_of_family("one-peer-exponential", 2048);
  EXPECT_EQ(one_peer.contraction, 0);
  EXPECT_EQ(one_peer.rounds_to_1e_3, 11);
  EXPECT_EQ(one_peer.joint_window, 11);
}

TEST(Analysis, IterationsFindWhatIsKnownOfTheStar) {
  // A leaf's share is 2/n of the hub's, whichever sums are one; the second eigenvalue is 1/2.
  constexpr Client n = 1001;
  const double hub = 1 / (1 + 2.0 * (n - 1) / n);
  for (const WeightRule rule : {WeightRule::sender, WeightRule::receiver}) {
    const TopologyAnalysis analysis = analysis_of_family("star", n, rule);
    EXPECT_NEAR(analysis.contraction, 0.5, 1e-4);
    EXPECT_EQ(analysis.rounds_to_1e_3, 10);
    EXPECT_NEAR(analysis.perron[0], hub, 1e-11);
    EXPECT_NEAR(analysis.perron[7], hub * 2 / n, 1e-11);
  }
}

// A random graph of degree 8 has eigenvalues up to 2√7 (Friedman), so that the contraction tends to (1 + 2√7)/9.
TEST(Analysis, ARandomGraphOfManyClientsIsResolved) {
  if (testing_support::sanitized) GTEST_SKIP() << "iterations on many clients take minutes with sanitizers";
  const double limit = (1 + 2 * std::sqrt(7.0)) / 9;
  const TopologyAnalysis analysis = analyse(Topology::parse(
      fmt::format("generate random-regular clients={} degree=8 seed=1\n", testing_support::slow() ? 100'000 : 20'000),
      "test"));
  EXPECT_LT(analysis.contraction_tolerance, 0.01 * (1 - limit));
  EXPECT_NEAR(analysis.contraction, limit, analysis.contraction_tolerance + 0.002);
  EXPECT_NEAR(static_cast<double>(analysis.rounds_to_1e_3.value()), std::log(1e-3) / std::log(limit), 3);
}

// Eigenvalues of symmetric graphs in closed form. A path by metropolis has the waves of a circle of twice its length.
TEST(Analysis, IterationsAreWithinTheToleranceThatTheyState) {
  const auto cosine = [](double periods) { return std::cos(2 * std::numbers::pi / periods); };
  for (const auto& [spec, n, known] :
       std::vector<std::tuple<std::string, Client, double>>{{"ring", 1500, (1 + 2 * cosine(1500)) / 3},
                                                            {"path", 1500, (1 + 2 * cosine(3000)) / 3},
                                                            {"torus:rows=40", 2000, (3 + 2 * cosine(50)) / 5},
                                                            {"torus:rows=2", 2000, (2 + 2 * cosine(1000)) / 4},
                                                            {"torus", 10'000, (3 + 2 * cosine(100)) / 5},
                                                            {"hypercube", 2048, 10.0 / 12}}) {
    const TopologyAnalysis analysis = analysis_of_family(spec, n, WeightRule::metropolis);
    EXPECT_GT(analysis.contraction_tolerance, 0) << spec;
    EXPECT_LT(analysis.contraction_tolerance, 0.1 * (1 - known)) << spec;
    EXPECT_NEAR(analysis.contraction, known, analysis.contraction_tolerance + 1e-14) << spec;
    const double rounds = std::log(1e-3) / std::log(known);
    EXPECT_NEAR(static_cast<double>(analysis.rounds_to_1e_3.value()), rounds, 1 + 0.1 * rounds) << spec;
    EXPECT_EQ(analysis.joint_window, 1);
    EXPECT_EQ(analysis.bias, 0);
  }
}

TEST(Analysis, ManyClientsOnCircles) {
  const TopologyAnalysis exponential = analysis_of_family("exponential", 4096);
  EXPECT_NEAR(exponential.contraction, 11.0 / 13, 1e-9);
  const TopologyAnalysis turns = analysis_of_family("one-peer-exponential", 4096);
  EXPECT_EQ(turns.contraction, 0);
  EXPECT_EQ(turns.rounds_to_1e_3, 12);
  // Averages of 4095 clients are not exact: |cos(π m 2^k / n)| over the period, for the worst of the waves m.
  double worst = 0;
  for (int m = 1; m < 4095; ++m) {
    double product = 1;
    for (int hop = 1; hop < 4095; hop *= 2) product *= std::abs(std::cos(std::numbers::pi * m * hop / 4095));
    worst = std::max(worst, product);
  }
  EXPECT_NEAR(analysis_of_family("one-peer-exponential", 4095).contraction, std::pow(worst, 1.0 / 12), 1e-9);
}

TEST(Dot, ShowsWeightsOwnSharesAndPhases) {
  const std::string fixed = to_dot(Topology::parse("clients 2\nedge 0 1\n", "f.topo"));
  EXPECT_THAT(fixed, HasSubstr("p0_0 -> p0_1 [penwidth=3.00 tooltip=\"0 to 1: 0.5\" label=\"0.5\"]"));
  EXPECT_THAT(fixed, HasSubstr("tooltip=\"0 keeps 0.5\""));
  EXPECT_THAT(fixed, HasSubstr("tooltip=\"1 keeps 1\""));
  EXPECT_THAT(fixed, testing::Not(HasSubstr("subgraph")));
  const std::string varying = to_dot(Topology::parse("clients 2\nphase 2\nedge 0 1\nphase 1\n", "f.topo"));
  EXPECT_THAT(varying, HasSubstr("label=\"rounds 0 to 1 of every 3\""));
  EXPECT_THAT(varying, HasSubstr("label=\"round 2 of every 3\""));
  EXPECT_THAT(varying, HasSubstr("tooltip=\"0 keeps 1\""));
}

// Two edges of one weight are one line without arrows; of two weights each has its width.
TEST(Dot, JoinsEdgesOfOneWeight) {
  const std::string equal = to_dot(Topology::parse("generate ring clients=8\n", "r.topo"));
  EXPECT_THAT(equal, HasSubstr("p0_0 -> p0_1 [penwidth=3.00 dir=none"));
  EXPECT_THAT(equal, testing::Not(HasSubstr("p0_1 -> p0_0 ")));
  const std::string unequal = to_dot(Topology::parse(
      "clients 2\nweights explicit\nedge 0 0 0.5\nedge 0 1 0.5\nedge 1 1 0.75\nedge 1 0 0.25\n", "u.topo"));
  EXPECT_THAT(unequal, HasSubstr("p0_0 -> p0_1 [penwidth=3.00 tooltip"));
  EXPECT_THAT(unequal, HasSubstr("p0_1 -> p0_0 [penwidth=1.75 tooltip"));
}

// Rings of any size and few clients stand on a circle, client 0 at the top; others are laid out by forces.
TEST(Dot, PlacesClients) {
  for (const char* line : {"generate ring clients=150\n", "generate complete clients=16\n"}) {
    const std::string dot = to_dot(Topology::parse(line, "c.topo"));
    EXPECT_THAT(dot, HasSubstr("layout=neato"));
    const bool few = dot.find("p0_64 ") == std::string::npos;
    EXPECT_THAT(dot, HasSubstr(few ? "splines=true;" : "splines=line;"));
    EXPECT_THAT(dot, testing::ContainsRegex("p0_0 .*pos=\"0.0000,[0-9.]+!\""));
  }
  EXPECT_THAT(to_dot(Topology::parse("generate hypercube clients=64\n", "h.topo")), HasSubstr("layout=sfdp"));
}

}  // namespace starling::analysis_test
