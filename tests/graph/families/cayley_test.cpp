// Topologies that are the same seen from every client: found as such, and their exact rates, beside eigenvalues of
// their matrices and what iterations come to.
#include "graph/families/cayley.hpp"

#include "graph/analysis/connectivity.hpp"
#include "graph/analysis/spectrum.hpp"
#include "support/sanitized.hpp"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include "starling/core/random.hpp"
#include "starling/graph/analysis/analysis.hpp"

namespace starling {
namespace {

using Sides = std::vector<Client>;

/// The sum of two elements, digit by digit.
Client sum_of(const AbelianGroup& group, Client a, Client b) {
  const std::vector<Client> x = group.digits(a);
  const std::vector<Client> y = group.digits(b);
  Client sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum = sum * group.sides()[j] + (x[j] + y[j]) % group.sides()[j];
  return sum;
}

Topology topology_of(const CayleyGraph& graph) {
  std::vector<Topology::Phase> phases;
  for (const CayleyGraph::Phase& phase : graph.phases) {
    phases.push_back({phase.rounds, {}});
    for (Client u = 0; u < graph.group.order(); ++u) {
      phases.back().edges.push_back({u, u, phase.own});
      for (const Arc& arc : phase.in) phases.back().edges.push_back({sum_of(graph.group, u, arc.peer), u, arc.weight});
    }
  }
  return {graph.group.order(), WeightRule::explicit_weights, {}, phases};
}

/// Modulus of the second eigenvalue of a period's product, per round, from its matrix.
double rate_by_matrix(const Topology& topology) {
  const auto n = static_cast<Eigen::Index>(topology.clients());
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(n, n);
  for (Round t = 0; t < topology.period(); ++t) {
    Eigen::MatrixXd round = Eigen::MatrixXd::Zero(n, n);
    for (Client u = 0; u < topology.clients(); ++u) {
      const Links links = topology.links(u, t);
      round(u, u) = links.own;
      for (const Arc& arc : links.in) round(u, arc.peer) = arc.weight;
    }
    product = round * product;
  }
  Eigen::VectorXd moduli = Eigen::EigenSolver<Eigen::MatrixXd>(product, false).eigenvalues().cwiseAbs();
  std::sort(moduli.begin(), moduli.end());
  return std::pow(moduli[n - 2], 1 / static_cast<double>(topology.period()));
}

Topology made(const std::string& spec, Client n, WeightRule rule = WeightRule::sender) {
  return *topology_table().make(spec, n, rule);
}

Sides sides_of(const Topology& topology) {
  const auto graph = as_cayley_graph(topology);
  return graph ? graph->group.sides() : Sides{};
}

/// Some group of few elements, and on it some phases with random hops, weights and rounds. One hop in `units` has a one
/// in one digit alone, as the group is found by.
CayleyGraph random_graph(std::uint64_t seed, bool units) {
  AddressedRandom random(seed, Purpose::experiment, 0, 0);
  Sides sides(1 + random.below(3));
  for (Client& side : sides) side = static_cast<Client>(2 + random.below(4));
  CayleyGraph graph{AbelianGroup(sides), {}};
  const std::size_t phases = 1 + random.below(3);
  for (std::size_t k = 0; k < phases; ++k) {
    std::set<Client> hops;
    for (std::uint64_t more = random.below(4); more > 0; --more) {
      hops.insert(static_cast<Client>(1 + random.below(static_cast<std::uint64_t>(graph.group.order() - 1))));
    }
    if (units) {
      for (std::size_t j = 0; j < sides.size(); ++j) hops.insert(graph.group.place(j));
    }
    CayleyGraph::Phase phase{static_cast<Round>(1 + random.below(2)), random.uniform(), {}};
    double sum = phase.own;
    for (const Client hop : hops) sum += phase.in.emplace_back(Arc{hop, random.uniform()}).weight;
    phase.own /= sum;
    for (Arc& arc : phase.in) arc.weight /= sum;
    graph.phases.push_back(phase);
  }
  return graph;
}

TEST(AbelianGroup, CountsUpByDigits) {
  const AbelianGroup group({3, 2, 5});
  EXPECT_EQ(group.order(), 30);
  EXPECT_EQ(group.exponent(), 30);
  EXPECT_EQ(AbelianGroup({4, 6}).exponent(), 12);
  std::vector<Client> digits = group.digits(0);
  for (Client element = 0; element < 30; ++element) {
    EXPECT_EQ(digits, group.digits(element));
    Client changed = 0;
    group.count_up(digits, [&](std::size_t j) { changed += group.place(j); });
    EXPECT_EQ(changed, element % 10 == 9 ? 16 : element % 5 == 4 ? 6 : 1);
  }
  EXPECT_EQ(digits, group.digits(0));
}

/// By the definition: sums of the elements, from nothing on.
bool reaches_all(const AbelianGroup& group, const std::vector<Client>& elements) {
  std::set<Client> reached{0};
  for (std::vector<Client> queue{0}; !queue.empty();) {
    const Client at = queue.back();
    queue.pop_back();
    for (const Client element : elements) {
      const Client next = sum_of(group, at, element);
      if (reached.insert(next).second) queue.push_back(next);
    }
  }
  return reached.size() == static_cast<std::size_t>(group.order());
}

TEST(AbelianGroup, IsGeneratedByElementsWhoseSumsAreAll) {
  int generated = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    AddressedRandom random(seed, Purpose::experiment, 1, 0);
    Sides sides(1 + random.below(4));
    for (Client& side : sides) side = static_cast<Client>(1 + random.below(9));
    const AbelianGroup group(sides);
    std::vector<Client> elements(random.below(5));
    for (Client& element : elements) {
      element = static_cast<Client>(random.below(static_cast<std::uint64_t>(group.order())));
    }
    const bool expected = reaches_all(group, elements);
    EXPECT_EQ(group.is_generated_by(elements), expected) << seed;
    generated += expected ? 1 : 0;
  }
  EXPECT_GT(generated, 200);
  EXPECT_LT(generated, 1800);
}

TEST(CayleyGraphs, AreFoundAmongTheFamilies) {
  const std::vector<std::tuple<std::string, Client, Sides>> table = {
      {"ring", 12, {12}},
      {"directed-ring", 7, {7}},
      {"exponential", 16, {16}},
      {"one-peer-exponential", 12, {12}},
      {"complete", 9, {9}},
      {"torus", 12, {3, 4}},
      {"torus:rows=4", 12, {4, 3}},  // two is a neighbour, and divides twelve
      {"torus:rows=2", 12, {2, 6}},
      {"torus:columns=2", 12, {6, 2}},
      {"torus", 4, {2, 2}},
      {"torus", 9, {3, 3}},
      {"torus", 6, {2, 3}},
      {"torus:rows=1", 10, {10}},
      {"hypercube", 2, {2}},
      {"hypercube", 4, {2, 2}},
      {"hypercube", 16, {2, 2, 2, 2}},
      {"ring", 1, {1}},
      {"path", 12, {}},
      {"grid", 12, {}},
      {"star", 5, {}},
      {"barbell", 8, {}},
      {"random-regular", 20, {}},
      {"random-matching", 20, {}},
  };
  for (const auto& [spec, n, sides] : table) EXPECT_EQ(sides_of(made(spec, n)), sides) << spec << " of " << n;
  EXPECT_EQ(sides_of(made("torus", 12, WeightRule::metropolis)), (Sides{3, 4}));
}

TEST(CayleyGraphs, AreFoundByTheirRows) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const CayleyGraph graph = random_graph(seed, true);
    const auto found = as_cayley_graph(topology_of(graph));
    if (!found) continue;  // another neighbour stood between
    ++count;
    ASSERT_EQ(found->phases.size(), graph.phases.size());
    for (std::size_t k = 0; k < graph.phases.size(); ++k) {
      EXPECT_EQ(found->phases[k].rounds, graph.phases[k].rounds);
      EXPECT_EQ(found->phases[k].own, graph.phases[k].own);
      EXPECT_EQ(found->phases[k].in, graph.phases[k].in);
    }
    EXPECT_EQ(topology_of(*found).digest(), topology_of(graph).digest()) << seed;
  }
  EXPECT_GT(count, 150);
}

TEST(CayleyGraphs, AreNoneWhereOneWeightOfOneClientDiffers) {
  const CayleyGraph torus{AbelianGroup({3, 4}), {{1, 0.25, {{1, 0.25}, {3, 0.125}, {4, 0.375}}}}};
  ASSERT_EQ(sides_of(topology_of(torus)), (Sides{3, 4}));
  std::vector<Edge> edges;
  for (Client u = 0; u < 12; ++u) {
    edges.push_back({u, u, 0.25});
    for (const Arc& arc : torus.phases[0].in) edges.push_back({sum_of(torus.group, u, arc.peer), u, arc.weight});
  }
  for (Edge& edge : edges) {
    const double before = edge.weight;
    edge.weight = std::nextafter(before, 1);
    EXPECT_EQ(sides_of(Topology(12, WeightRule::explicit_weights, edges, {})), Sides{}) << edge.from << ' ' << edge.to;
    edge.weight = before;
  }
}

TEST(CayleySpectrum, IsThatOfTheMatrix) {
  for (const auto& [spec, n] : std::vector<std::pair<std::string, Client>>{{"ring", 12},
                                                                           {"directed-ring", 9},
                                                                           {"exponential", 24},
                                                                           {"one-peer-exponential", 11},
                                                                           {"torus", 12},
                                                                           {"torus:rows=2", 14},
                                                                           {"torus:columns=2", 14},
                                                                           {"torus:rows=5", 35},
                                                                           {"torus", 4},
                                                                           {"torus", 64},
                                                                           {"hypercube", 8},
                                                                           {"hypercube", 64}}) {
    const Topology topology = made(spec, n);
    const auto graph = as_cayley_graph(topology);
    ASSERT_TRUE(graph.has_value()) << spec;
    const Spectrum spectrum = cayley_spectrum(*graph);
    EXPECT_NEAR(spectrum.second, rate_by_matrix(topology), 1e-13) << spec << " of " << n;
    EXPECT_EQ(spectrum.rounds, 1);
    EXPECT_EQ(spectrum.tolerance, 0);
    EXPECT_EQ(spectrum.exact_after, std::nullopt) << spec;
    EXPECT_EQ(spectrum.perron, std::vector<double>(static_cast<std::size_t>(n), 1.0 / n));
  }
}

// What turns for ever is told from what falls by 1e-12 a round.
TEST(CayleySpectrum, TellsSlowFromNever) {
  for (const Client n : {10'500, 2'100'000}) {
    const double gap = 4.0 / 3 * std::pow(std::sin(std::numbers::pi / n), 2);
    const CayleyGraph ring{AbelianGroup({n}), {{1, 1.0 / 3, {{1, 1.0 / 3}, {n - 1, 1.0 / 3}}}}};
    EXPECT_NEAR(1 - cayley_spectrum(ring).second, gap, 2e-16);
    EXPECT_NEAR(cayley_spectrum(ring).gap.value(), gap, 1e-6 * gap);
    CayleyGraph turning{AbelianGroup({n}), {{7, 0, {{1, 1}}}, {3, 0, {}}}};  // every seventh wave keeps its length
    for (Client k = 0; k < 7; ++k) turning.phases[1].in.push_back({1 + k * (n / 7), 1.0 / 7});
    EXPECT_EQ(cayley_spectrum(turning).second, 1);
  }
}

// Between two rounds of mixing clients rest for very long: what is left of the gap is lost beside one.
TEST(CayleySpectrum, KnowsGapsBelowWhatANumberBesideOneTells) {
  constexpr Client n = 1001;
  CayleyGraph resting{AbelianGroup({n}), {{1, 0.5, {{1, 0.25}, {n - 1, 0.25}}}}};
  for (int k = 0; k < 250; ++k) resting.phases.push_back({1'000'000'000, 1, {}});
  const TopologyAnalysis analysis = analyse(topology_of(resting));
  const auto period = static_cast<double>(resting.period());
  const double of_round = 2 * std::log(std::cos(std::numbers::pi / n)) / period;
  EXPECT_EQ(analysis.contraction, 1) << "to the last digit";
  EXPECT_NEAR(analysis.gap, -of_round, -1e-9 * of_round);
  EXPECT_NEAR(static_cast<double>(analysis.rounds_to_1e_3.value()), std::log(1e-3) / of_round, 1e9);
}

// Any groups, hops, weights and phases, also those that no family has.
TEST(CayleySpectrum, IsThatOfTheMatrixOfRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const CayleyGraph graph = random_graph(seed, seed % 2 == 0);
    const auto period = static_cast<double>(graph.period());
    const double exact = cayley_spectrum(graph).second;
    EXPECT_NEAR(std::pow(exact, period), std::pow(rate_by_matrix(topology_of(graph)), period), 1e-13) << seed;
  }
}

TEST(CayleySpectrum, KnowsWhatOscillatesAndWhatIsGoneAtOnce) {
  const CayleyGraph turning{AbelianGroup({4, 6}), {{1, 0, {{1, 0.5}, {6, 0.5}}}}};
  EXPECT_NEAR(cayley_spectrum(turning).second, 1, 1e-15);
  // A hypercube whose digits are averaged in turn, the last one twice.
  const CayleyGraph in_turn{AbelianGroup({2, 2, 2}),
                            {{1, 0.5, {{4, 0.5}}}, {1, 0.5, {{2, 0.5}}}, {2, 0.5, {{1, 0.5}}}}};
  const Spectrum gone = cayley_spectrum(in_turn);
  EXPECT_EQ(gone.second, 0);
  EXPECT_EQ(gone.exact_after, 1);
  EXPECT_EQ(gone.rounds, 4);
}

TEST(CayleyGraphs, ConnectAsTheirEdgesDo) {
  int connected = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const CayleyGraph graph = random_graph(seed, seed % 4 == 0);
    const Topology topology = topology_of(graph);
    for (std::size_t phase = 0; phase < graph.phases.size(); ++phase) {
      EXPECT_EQ(strongly_connected(graph, phase), strongly_connected(topology, phase)) << seed;
    }
    EXPECT_EQ(joint_window(graph), joint_window(topology)) << seed;
    EXPECT_EQ(static_cast<std::size_t>(distinct_edges(graph)), PhaseUnion(topology).distinct_edges()) << seed;
    connected += joint_window(graph) ? 1 : 0;
  }
  EXPECT_GT(connected, 100);
  EXPECT_LT(connected, 290);
}

// Known eigenvalues of symmetric graphs: iterations come as near as they say, and characters to the last digits.
TEST(CayleySpectrum, IsWhatIterationsComeTo) {
  const auto cosine = [](double periods) { return std::cos(2 * std::numbers::pi / periods); };
  for (const auto& [spec, n, known] :
       std::vector<std::tuple<std::string, Client, double>>{{"torus:rows=40", 2000, (3 + 2 * cosine(50)) / 5},
                                                            {"torus:rows=2", 2000, (2 + 2 * cosine(1000)) / 4},
                                                            {"hypercube", 2048, 10.0 / 12}}) {
    const Topology topology = made(spec, n);
    const Spectrum iterated = iterated_spectrum(topology, PerronSide::both, true);
    EXPECT_NEAR(iterated.second, known, iterated.tolerance + 1e-4 * (1 - known)) << spec;
    EXPECT_LT(iterated.tolerance, 0.1 * (1 - known)) << spec;
    EXPECT_NEAR(cayley_spectrum(*as_cayley_graph(topology)).second, known, 1e-15) << spec;
  }
}

// Circles that are folded: rows of a path by metropolis, and any even rows with far hops, in phases.
TEST(FoldedCircles, HaveTheRatesOfTheirMatrices) {
  const auto expect_rate = [](const Topology& topology) {
    const auto circle = as_folded_circle(topology);
    ASSERT_TRUE(circle.has_value()) << topology.text();
    const auto period = static_cast<double>(topology.period());
    const Spectrum spectrum = folded_spectrum(*circle);
    EXPECT_NEAR(std::pow(spectrum.second, period), std::pow(rate_by_matrix(topology), period), 1e-13)
        << topology.text();
    EXPECT_EQ(spectrum.perron.size(), static_cast<std::size_t>(topology.clients()));
  };
  for (Client n = 3; n <= 20; ++n) expect_rate(made("path", n, WeightRule::metropolis));
  for (Client n = 7; n <= 14; ++n) {
    std::vector<Topology::Phase> phases;
    for (const double share : {0.25, 0.1}) {
      Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(n, n);
      for (Client u = 0; u < n; ++u) {
        const auto take = [&](Client place, double weight) {
          weights(u, place < 0 ? -1 - place : std::min(place, 2 * n - 1 - place)) += weight;
        };
        for (const Client side : {-1, 1}) {
          take(u + side, share);
          take(u + 3 * side, 0.4 - share);
        }
        take(u, 0.2);
      }
      phases.push_back({2, {}});
      for (Client from = 0; from < n; ++from) {
        for (Client to = 0; to < n; ++to) phases.back().edges.push_back({from, to, weights(to, from)});
      }
    }
    expect_rate(Topology(n, WeightRule::explicit_weights, {}, phases));
  }
}

TEST(FoldedCircles, HaveTheRatesThatIterationsComeTo) {
  const double known = (1 + 2 * std::cos(std::numbers::pi / 1500)) / 3;
  const Topology path = made("path", 1500, WeightRule::metropolis);
  const Spectrum iterated = iterated_spectrum(path, PerronSide::both, true);
  EXPECT_NEAR(iterated.second, known, iterated.tolerance + 1e-4 * (1 - known));
  EXPECT_LT(iterated.tolerance, 0.1 * (1 - known));
  EXPECT_NEAR(folded_spectrum(*as_folded_circle(path)).second, known, 1e-15);
}

TEST(FoldedCircles, AreNoOtherTopologies) {
  const auto is_folded = [](const Topology& topology) { return as_folded_circle(topology).has_value(); };
  EXPECT_FALSE(is_folded(made("path", 9)));  // ends keep half
  EXPECT_FALSE(is_folded(made("ring", 9)));
  EXPECT_FALSE(is_folded(made("directed-ring", 9)));
  EXPECT_FALSE(is_folded(made("grid", 9, WeightRule::metropolis)));
  EXPECT_FALSE(is_folded(made("star", 9, WeightRule::metropolis)));
  EXPECT_FALSE(is_folded(made("random-regular", 20, WeightRule::metropolis)));
  // The same from all clients, and more from one side than from the other: no waves are reflected.
  std::string text = "clients 5\nweights explicit\nedge 0 0 0.8\nedge 4 4 0.6\n";
  for (int u = 0; u < 4; ++u) text += fmt::format("edge {} {} 0.4\nedge {} {} 0.2\n", u, u + 1, u + 1, u);
  for (int u = 1; u < 4; ++u) text += fmt::format("edge {} {} 0.4\n", u, u);
  EXPECT_FALSE(is_folded(Topology::parse(text, "f.topo")));
}

// A million clients: a torus has the contraction (3 + 2 cos(2π / longer side))/5, a path (1 + 2 cos(π/n))/3, and a
// hypercube of 2^k (k − 1)/(k + 1). Sanitizers are given fewer: they take long.
TEST(CayleyAnalysis, ManyClientsHaveExactRates) {
  constexpr Client side = testing_support::sanitized ? 200 : 1'000;
  constexpr int bits = testing_support::sanitized ? 14 : 20;
  constexpr Client many = side * side;
  const auto gap_of_side = [](double share, double length) {
    return share * std::pow(std::sin(std::numbers::pi / length), 2);
  };
  for (const auto& [spec, n, gap] :
       std::vector<std::tuple<std::string, Client, double>>{{"torus", many, gap_of_side(0.8, side)},
                                                            {"torus:rows=8", many, gap_of_side(0.8, many / 8.0)},
                                                            {"path", many, gap_of_side(4.0 / 3, 2.0 * many)},
                                                            {"hypercube", 1 << bits, 2.0 / (bits + 1)}}) {
    const auto graph = make_graph(spec, n, WeightRule::metropolis);
    const TopologyAnalysis analysis = analyse(GraphSample(*graph));
    EXPECT_NEAR(1 - analysis.contraction, gap, 1e-15) << spec;
    EXPECT_EQ(analysis.contraction_tolerance, 0) << spec;
    const double rounds = std::log(1e-3) / std::log1p(-gap);
    EXPECT_NEAR(static_cast<double>(analysis.rounds_to_1e_3.value()), rounds, 1 + 2e-4 * rounds) << spec;
    EXPECT_EQ(analysis.joint_window, 1);
    EXPECT_EQ(analysis.bias, 0);
  }
}

}  // namespace
}  // namespace starling
