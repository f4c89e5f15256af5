// Limits of heterogeneous clients: push-sum with η/w reaches the minimiser of the uniform sum, plain receiver mixing
// the point that `topology check` foretells (docs/methods/decentralized.md, "Why steps are divided by the mass").
#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "graph/analysis/analysis.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::optimum_test {

using namespace testing_support;

constexpr Round many_rounds = 100'000;

Topology read_topology(const std::string& name) {
  return Topology::read(source_folder() + "/topologies/" + name);
}

Topology with_rule(const Topology& topology, WeightRule rule) {
  std::vector<Edge> edges;
  for (Client u = 0; u < topology.clients(); ++u) {
    for (const Arc& arc : topology.phase_links(0, u).out) edges.push_back({u, arc.peer, 0});
  }
  return Topology(topology.clients(), rule, edges, {});
}

/// Minimisers inside the simplex; the clients that the graph favours want something else than the others.
std::vector<Vector> minimisers() {
  return {{.8, .1, .1}, {.1, .2, .7}, {.7, .2, .1}, {.2, .1, .7}, {.1, .4, .5}};
}

Vector weighted(const std::vector<Vector>& points, const std::vector<double>& weights) {
  Vector result(points.front().size(), 0.0);
  for (std::size_t u = 0; u < points.size(); ++u) axpy(weights[u], points[u], result);
  return result;
}

RunSettings settings_for(Mixing mixing) {
  RunSettings settings;
  settings.mixing = mixing;
  settings.rounds = many_rounds;
  settings.step = 0.5;
  return settings;
}

class Optimum : public testing::TestWithParam<Geometry> {};

TEST_P(Optimum, PushSumReachesTheUniformOneAndPlainMixingTheForetoldOne) {
  const auto points = minimisers();
  const std::vector<Vector> start(5, Vector(3, 1.0 / 3));
  const Topology sender = with_rule(read_topology("unbalanced-5.topo"), WeightRule::sender);
  const Topology receiver = with_rule(sender, WeightRule::receiver);
  const auto& g = GetParam();
  const NetworkResult push = run_network(sender, settings_for(Mixing::push_sum), g.mirror, g.domain, start, points);
  const NetworkResult plain = run_network(receiver, settings_for(Mixing::plain), g.mirror, g.domain, start, points);
  if (world().rank() != 0) return;
  const Vector uniform = weighted(points, std::vector<double>(5, 0.2));
  const TopologyAnalysis analysis = analyse(receiver);
  const Vector foretold = weighted(points, analysis.perron);
  EXPECT_LT(std::sqrt(squared_distance(mean_of(push.models), uniform)), 1e-3);
  EXPECT_LT(std::sqrt(squared_distance(mean_of(plain.models), foretold)), 2e-3);
  EXPECT_GT(std::sqrt(squared_distance(mean_of(plain.models), uniform)), 0.05);
  EXPECT_GT(analysis.bias, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Maps, Optimum,
                         testing::Values(Geometry{"euclidean", "free"}, Geometry{"euclidean", "ball:2"},
                                         Geometry{"entropic", "simplex"}),
                         [](const auto& row) { return test_name(row.param.mirror + "_" + row.param.domain); });

// Eight clients, one with a mass near 0.06: its steps η/w are cut, owed and repaid. Half the clients want 0, half 1.
TEST(StepDebt, IsRepaidAndTheLimitIsTheUniformOptimum) {
  const Topology topology = read_topology("small-mass-8.topo");
  std::vector<Vector> points;
  for (int u = 0; u < 8; ++u) points.push_back({u % 2 == 0 ? 0.0 : 1.0});
  const NetworkResult result = run_network(topology, settings_for(Mixing::push_sum), "euclidean", "free",
                                           std::vector<Vector>(8, Vector{0.0}), points);
  if (world().rank() != 0) return;
  EXPECT_LT(*std::min_element(result.masses.begin(), result.masses.end()), 0.07);
  EXPECT_NEAR(mean_of(result.models)[0], 0.5, 0.001);
  EXPECT_NEAR(result.debt, 0, 1e-12);
}

// With nearly no cap on the steps nothing is ever owed; with a small one the debt is there at first.
TEST(StepDebt, IsThereWhileTheCapBinds) {
  const Topology topology = read_topology("small-mass-8.topo");
  std::vector<Vector> points;
  for (int u = 0; u < 8; ++u) points.push_back({u % 2 == 0 ? 0.0 : 1.0});
  RunSettings settings = settings_for(Mixing::push_sum);
  settings.rounds = 40;
  const std::vector<Vector> start(8, Vector{0.0});
  const NetworkResult capped = run_network(topology, settings, "euclidean", "free", start, points);
  settings.step_cap = 1e6;
  const NetworkResult free = run_network(topology, settings, "euclidean", "free", start, points);
  if (world().rank() != 0) return;
  EXPECT_GT(capped.debt, 0.1);
  EXPECT_EQ(free.debt, 0);
}

}  // namespace starling::optimum_test
