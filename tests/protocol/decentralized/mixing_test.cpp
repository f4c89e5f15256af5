// The table of docs/methods/decentralized.md, "Exact cases": pure mixing within 1e-12, on any layout.
#include <cmath>

#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::mixing_test {

using namespace testing_support;

struct Case {
  std::string name;
  std::string topology;
  Vector start;
  Round rounds;
  Mixing mixing;
  Vector expected;
  Vector expected_mass;  ///< empty: not stated
  double tolerance = 1e-12;
};

Vector counting(std::size_t n) {
  Vector start;
  for (std::size_t r = 0; r < n; ++r) start.push_back(static_cast<double>(r));
  return start;
}

const std::string unbalanced = "clients 3\nweights sender\nedge 0 1\nedge 0 2\nedge 1 2\nedge 2 0\n";
const std::string jointly = "clients 4\nweights sender\nphase 1\nedge 0 1\nedge 2 3\nphase 1\nedge 1 2\nedge 3 0\n";
const std::string lost_link = "clients 4\nweights sender\nedge 1 2\nedge 2 3\nedge 3 0\nphase 1\nphase 2\nedge 0 1\n";
const std::string path = "clients 4\nweights metropolis\nedge 0 1\nedge 1 0\nedge 1 2\nedge 2 1\nedge 2 3\nedge 3 2\n";

std::string one_peer(int n) {
  return fmt::format("generate one-peer-exponential clients={}\n", n);
}

std::vector<Case> cases() {
  return {
      {"one_peer_4", one_peer(4), counting(4), 2, Mixing::push_sum, Vector(4, 1.5), Vector(4, 1), 0},
      {"one_peer_8", one_peer(8), counting(8), 3, Mixing::push_sum, Vector(8, 3.5), Vector(8, 1), 0},
      {"one_peer_16", one_peer(16), counting(16), 4, Mixing::push_sum, Vector(16, 7.5), Vector(16, 1), 0},
      {"one_peer_6", one_peer(6), counting(6), 3, Mixing::push_sum, {2.5, 2, 2.25, 2.5, 2.75, 3}, {}},
      {"unbalanced_1",
       unbalanced,
       {0, 3, 6},
       1,
       Mixing::push_sum,
       {18.0 / 5, 9.0 / 5, 27.0 / 8},
       {5.0 / 6, 5.0 / 6, 4.0 / 3}},
      {"unbalanced_2", unbalanced, {0, 3, 6}, 2, Mixing::push_sum, {}, {17.0 / 18, 25.0 / 36, 49.0 / 36}},
      {"unbalanced_limit", unbalanced, {0, 3, 6}, 200, Mixing::push_sum, {3, 3, 3}, {1, 2.0 / 3, 4.0 / 3}},
      {"jointly_1", jointly, {0, 4, 8, 12}, 1, Mixing::push_sum, {0, 8.0 / 3, 8, 32.0 / 3}, {}},
      {"jointly_limit", jointly, {0, 4, 8, 12}, 400, Mixing::push_sum, {6, 6, 6, 6}, {}},
      {"lost_link_limit", lost_link, {0, 4, 8, 12}, 600, Mixing::push_sum, {6, 6, 6, 6}, {}},
      {"metropolis_push_sum", path, counting(4), 1, Mixing::push_sum, {1.0 / 3, 1, 2, 8.0 / 3}, Vector(4, 1)},
      {"metropolis_plain", path, counting(4), 1, Mixing::plain, {1.0 / 3, 1, 2, 8.0 / 3}, Vector(4, 1)},
  };
}

class MethodTable : public testing::TestWithParam<Case> {};

TEST_P(MethodTable, ComesOut) {
  const Case c = GetParam();
  const Topology topology = Topology::parse(c.topology, c.name);
  std::vector<Vector> start;
  for (const double x : c.start) start.push_back({x});
  RunSettings settings;
  settings.mixing = c.mixing;
  settings.rounds = c.rounds;
  const NetworkResult result = run_network(topology, settings, "euclidean", "free", start, {});
  if (world().rank() != 0) return;
  for (std::size_t u = 0; u < c.expected.size(); ++u) {
    EXPECT_NEAR(result.models[u][0], c.expected[u], c.tolerance) << "client " << u;
  }
  for (std::size_t u = 0; u < c.expected_mass.size(); ++u) {
    EXPECT_NEAR(result.masses[u], c.expected_mass[u], c.tolerance) << "client " << u;
  }
  // Σ w = n and Σ w x = Σ start after any number of rounds.
  if (c.mixing == Mixing::push_sum) {
    double total = 0;
    double started = 0;
    for (std::size_t u = 0; u < c.start.size(); ++u) {
      total += result.masses[u] * result.models[u][0];
      started += c.start[u];
    }
    EXPECT_NEAR(result.mass, static_cast<double>(c.start.size()), 1e-12);
    EXPECT_NEAR(total, started, 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(ExactCases, MethodTable, testing::ValuesIn(cases()),
                         [](const auto& row) { return row.param.name; });

// (3, 2, 4) would be the undivided sums of the unbalanced graph and 8/3 the receiver-normalised limit: seen in the
// field.
TEST(MethodTable, KnowsTheWrongAnswersApart) {
  const Topology topology = Topology::parse(unbalanced, "unbalanced");
  RunSettings settings;
  settings.mixing = Mixing::plain;
  settings.rounds = 200;
  const NetworkResult undivided = run_network(topology, settings, "euclidean", "free", {{0}, {3}, {6}}, {});
  if (world().rank() != 0) return;
  EXPECT_NEAR(undivided.models[0][0], 3, 1e-12);
  EXPECT_NEAR(undivided.models[1][0], 2, 1e-12);
  EXPECT_NEAR(undivided.models[2][0], 4, 1e-12);
}

TEST(Lazy, KeepsTheAverageAndTheMass) {
  const Topology topology = Topology::parse(unbalanced, "unbalanced");
  RunSettings settings;
  settings.lazy = 0.5;
  settings.rounds = 1;
  const NetworkResult once = run_network(topology, settings, "euclidean", "free", {{0}, {3}, {6}}, {});
  settings.rounds = 400;
  const NetworkResult result = run_network(topology, settings, "euclidean", "free", {{0}, {3}, {6}}, {});
  if (world().rank() != 0) return;
  // Half of (5/6, 5/6, 4/3), half of the start's 1.
  EXPECT_NEAR(once.masses[0], 11.0 / 12, 1e-12);
  EXPECT_NEAR(once.masses[2], 7.0 / 6, 1e-12);
  for (const Vector& model : result.models) EXPECT_NEAR(model[0], 3, 1e-12);
}

// Three exchanges a round are three rounds of averaging, on a graph that changes too.
TEST(GossipSteps, GoOnWithTheSchedule) {
  const Topology topology = Topology::parse(jointly, "jointly");
  RunSettings settings;
  settings.rounds = 21;
  const NetworkResult one = run_network(topology, settings, "euclidean", "free", {{0}, {4}, {8}, {12}}, {});
  settings.rounds = 7;
  settings.gossip_steps = 3;
  const NetworkResult three = run_network(topology, settings, "euclidean", "free", {{0}, {4}, {8}, {12}}, {});
  EXPECT_EQ(one.models, three.models);
  EXPECT_EQ(one.masses, three.masses);
}

}  // namespace starling::mixing_test
