// Mean masses under push-sum: of fixed graphs the stationary ones, of changing graphs those of a window.
#include "graph/masses.hpp"

#include <algorithm>

#include "graph/analysis/analysis.hpp"
#include "graph/overlays/overlays.hpp"
#include "support/testing.hpp"

namespace starling::masses_test {

Topology unequal_pair() {
  return {2, WeightRule::explicit_weights, {{0, 0, .95}, {0, 1, .05}, {1, 0, .95}, {1, 1, .05}}, {}};
}

Topology read_topology(const std::string& name) {
  return Topology::read(testing_support::source_folder() + "/topologies/" + name);
}

std::unique_ptr<Schedule> with_opt_outs(const Topology& topology, double share) {
  return std::make_unique<AttendedSchedule>(
      std::make_unique<Topology>(topology),
      absence_table().make("uniform",
                           Dropout{std::vector<double>(static_cast<std::size_t>(topology.clients()), share), 7}),
      Departures{}, MissingWeight::sender_keeps);
}

TEST(LeastMeanMass, OfAFixedGraphIsItsStationaryMass) {
  EXPECT_NEAR(least_mean_mass(unequal_pair(), {1000}), 0.1, 1e-6);
  for (const char* file : {"small-mass-8.topo", "unbalanced-3.topo", "unbalanced-8.topo"}) {
    const Topology topology = read_topology(file);
    const std::vector<double> perron = analyse(topology).perron;
    const double least = *std::min_element(perron.begin(), perron.end()) * static_cast<double>(perron.size());
    EXPECT_NEAR(least_mean_mass(topology, {100'000}), least, 1e-4) << file;
    EXPECT_NEAR(least_mean_mass(topology, {100'000, 3, 0.25}), least, 1e-4) << file;
  }
}

TEST(LeastMeanMass, OfABalancedGraphIsOne) {
  for (const char* file : {"ring-8.topo", "one-peer-exponential-8.topo", "metropolis-path-4.topo"}) {
    EXPECT_NEAR(least_mean_mass(read_topology(file), {500}), 1, 1e-12) << file;
  }
}

// Rounds begin where the phase that gives nearly all to client 0 has ended, whatever the other phase does.
TEST(LeastMeanMass, IsThatOfTheStartsOfRounds) {
  const std::vector<Topology::Phase> phases{{1, {{0, 0, .5}, {0, 1, .5}, {1, 0, .5}, {1, 1, .5}}},
                                            {1, {{0, 0, .95}, {0, 1, .05}, {1, 0, .95}, {1, 1, .05}}}};
  const Topology topology(2, WeightRule::explicit_weights, {}, phases);
  EXPECT_NEAR(least_mean_mass(topology, {1000, 2}), 0.1, 1e-9);
  EXPECT_NEAR(least_mean_mass(topology, {1000, 1}), 0.55, 1e-9);
}

TEST(LeastMeanMass, OfOneRoundIsThatOfTheStart) {
  EXPECT_EQ(least_mean_mass(unequal_pair(), {1}), 1);
}

// Client 1 of this graph has a mass of 2/3 when all are present; of two that share evenly both have 1, whoever is
// absent.
TEST(LeastMeanMass, OfOptOutsIsAMeanOverAWindow) {
  const double least = least_mean_mass(*with_opt_outs(read_topology("unbalanced-3.topo"), 0.2), {5000});
  EXPECT_NEAR(least, 2.0 / 3, 0.15);
  const Topology even(2, WeightRule::explicit_weights, {{0, 0, .5}, {0, 1, .5}, {1, 0, .5}, {1, 1, .5}}, {});
  EXPECT_EQ(least_mean_mass(*with_opt_outs(even, 0.4), {5000}), 1);
}

// Of the mass that goes from a to b in a round, the share p of losses waits for the next message: p/(1 − p) on average.
// With masses a + b + under way = 2 and 0.05 of a and 0.95 of b sent, a = 0.95 a' + 0.95 b' + …, so b/a stays
// 0.05/0.95.
TEST(LeastMeanMass, LeavesOutWhatLostMessagesHaveUnderWay) {
  const LossySchedule schedule(std::make_unique<Topology>(unequal_pair()),
                               LinkLossSettings{0.3, LossModel::unacknowledged, 2}, MissingWeight::sender_keeps);
  const double waiting = 0.3 / 0.7;
  const double a = 2 / (1 + 0.05 / 0.95 + 2 * 0.05 * waiting);  // each edge carries 0.05 a a round
  EXPECT_NEAR(least_mean_mass(schedule, {2000}), a * 0.05 / 0.95, 0.004);
  EXPECT_LT(least_mean_mass(schedule, {2000}), 0.099);
}

TEST(LeastMeanMass, LeavesOutWhoIsGone) {
  const AttendedSchedule schedule(std::make_unique<Topology>(unequal_pair()), nullptr, {std::nullopt, 5},
                                  MissingWeight::sender_keeps);
  EXPECT_GT(least_mean_mass(schedule, {100}), 0.99);
}

TEST(LeastMeanMass, OfManyClientsTakesFewRounds) {
  const auto graph = make_graph("random-regular:degree=4", 200'000, WeightRule::sender);
  EXPECT_NEAR(least_mean_mass(*graph, {1'000'000'000}), 1, 1e-9);
}

}  // namespace starling::masses_test
