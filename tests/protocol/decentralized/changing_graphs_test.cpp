// Graphs that change, clients that sit rounds out, messages that get lost: still the optimum of all clients, with all
// mass (docs/methods/decentralized.md, "Step debt" and "Graphs that change").
#include <algorithm>
#include <cmath>

#include "core/numerics/kernels.hpp"
#include "graph/overlays/overlays.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::changing_graphs_test {

using namespace testing_support;

constexpr Round many_rounds = 30'000;
const std::vector<double> opt_outs{.1, .6, .3, .5, .1};

/// Five clients whose edges come in three phases; none connects alone, together they do, unbalanced.
std::unique_ptr<Schedule> three_phases() {
  const std::vector<Topology::Phase> phases{
      {1, {{0, 1}, {0, 2}, {3, 4}}}, {1, {{1, 2}, {2, 3}}}, {1, {{4, 0}, {2, 0}}}};
  return std::make_unique<Topology>(5, WeightRule::sender, std::vector<Edge>{}, phases);
}

std::unique_ptr<Schedule> with_opt_outs(std::unique_ptr<Schedule> schedule, const std::vector<double>& shares) {
  return std::make_unique<AttendedSchedule>(std::move(schedule), absence_table().make("uniform", Dropout{shares, 1}),
                                            Departures{}, MissingWeight::split_anew);
}

std::unique_ptr<Schedule> with_losses(std::unique_ptr<Schedule> schedule, double probability, LossModel model) {
  return std::make_unique<LossySchedule>(std::move(schedule), LinkLossSettings{probability, model, 2},
                                         MissingWeight::sender_keeps);
}

/// Inside the simplex; those who are often absent want something else than the others.
std::vector<Vector> minimisers() {
  return {{.8, .1, .1}, {.1, .2, .7}, {.7, .2, .1}, {.1, .1, .8}, {.6, .3, .1}};
}

Vector weighted_mean(const std::vector<double>& weights) {
  Vector mean(3, 0.0);
  double total = 0;
  for (std::size_t u = 0; u < weights.size(); ++u) {
    axpy(weights[u], minimisers()[u], mean);
    total += weights[u];
  }
  scale(1 / total, mean);
  return mean;
}

double error_of(const NetworkResult& result, View target) {
  return std::sqrt(squared_distance(mean_of(result.models), target));
}

RunSettings settings_for(Round rounds) {
  RunSettings settings;
  settings.rounds = rounds;
  settings.step = 0.5;
  return settings;
}

class ChangingGraph : public testing::TestWithParam<Geometry> {
 protected:
  [[nodiscard]] static NetworkResult play(const Schedule& schedule, const RunSettings& settings) {
    return run_network(schedule, settings, GetParam().mirror, GetParam().domain,
                       std::vector<Vector>(5, Vector(3, 1.0 / 3)), minimisers());
  }
};

TEST_P(ChangingGraph, LeadsToTheUniformOptimumWhoeverOptsOut) {
  const auto result = play(*with_opt_outs(three_phases(), opt_outs), settings_for(many_rounds));
  if (world().rank() != 0) return;
  EXPECT_LT(error_of(result, weighted_mean({1, 1, 1, 1, 1})), 0.01);
  EXPECT_NEAR(result.mass, 5, 1e-10);
  EXPECT_NEAR(result.debt, 0, 1e-9);
}

// Who freezes when absent counts by its participation; nobody asked for that.
TEST_P(ChangingGraph, LeadsElsewhereIfTheAbsentFreeze) {
  RunSettings settings = settings_for(many_rounds);
  settings.absent = OmdSettings::Absent::freezes;
  const auto result = play(*with_opt_outs(three_phases(), opt_outs), settings);
  if (world().rank() != 0) return;
  std::vector<double> participation;
  for (const double p : opt_outs) participation.push_back(1 - p);
  EXPECT_LT(error_of(result, weighted_mean(participation)), 0.03);
  EXPECT_GT(error_of(result, weighted_mean({1, 1, 1, 1, 1})), 0.1);
}

TEST_P(ChangingGraph, LosesNothingWithItsMessages) {
  for (const LossModel model : {LossModel::acknowledged, LossModel::unacknowledged}) {
    RunSettings settings = settings_for(many_rounds);
    settings.running_sums = model == LossModel::unacknowledged;
    const auto result = play(*with_losses(three_phases(), 0.2, model), settings);
    if (world().rank() != 0) continue;
    EXPECT_LT(error_of(result, weighted_mean({1, 1, 1, 1, 1})), 0.01);
    EXPECT_NEAR(result.mass + result.in_flight, 5, 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Maps, ChangingGraph,
                         testing::Values(Geometry{"euclidean", "free"}, Geometry{"entropic", "simplex"}),
                         [](const auto& row) { return test_name(row.param.mirror); });

// 5 % of all messages lost without running sums would leave no mass at all after some thousand rounds.
TEST(LostMass, IsGoneForEverWithoutRunningSums) {
  RunSettings settings = settings_for(10'000);
  const auto schedule = with_losses(three_phases(), 0.05, LossModel::unacknowledged);
  settings.running_sums = true;
  const auto kept = run_network(*schedule, settings, "euclidean", "free", {{0}, {1}, {2}, {3}, {4}}, {});
  if (world().rank() != 0) return;
  EXPECT_NEAR(kept.mass + kept.in_flight, 5, 1e-10);
  EXPECT_GT(kept.mass, 4);
  for (const Vector& x : kept.models) EXPECT_NEAR(x[0], 2, 0.5);
}

// One client gives nearly all its mass away in each round, and who should feed it is often absent. With debts it stays
// in reach and the limit is right; steps η/w at once throw it far out.
TEST(StepDebt, KeepsClientsWithLittleMassInReach) {
  const auto topology = [] {
    return std::make_unique<Topology>(
        3, WeightRule::explicit_weights,
        std::vector<Edge>{{0, 0, 1e-2}, {0, 1, 0.99}, {1, 1, 0.5}, {1, 2, 0.5}, {2, 2, 0.5}, {2, 0, 0.5}},
        std::vector<Topology::Phase>{});
  };
  const auto schedule =
      std::make_unique<AttendedSchedule>(topology(), absence_table().make("markov:length=8", Dropout{{0, 0, 0.6}, 3}),
                                         Departures{}, MissingWeight::sender_keeps);
  class Farthest final : public Observer {
   public:
    void after(const RoundView& view) override {
      const Released<Columns> models = view.models();
      for (const double x : models.value().flat()) most_ = std::max(most_, std::abs(x));
    }
    double most_ = 0;
  };
  const auto farthest = [&](double cap, Round rounds) {
    Farthest observer;
    RunSettings settings = settings_for(rounds);
    settings.step_cap = cap;
    settings.observers = {&observer};
    const auto result = run_network(*schedule, settings, "euclidean", "box:-1e9,1e9", {{0}, {0}, {0}}, {{0}, {1}, {2}});
    double mean = 0;  // what mixing preserves; a client without mass counts for nothing
    for (std::size_t u = 0; u < result.models.size(); ++u) mean += result.masses[u] * result.models[u][0] / 3;
    return std::pair(observer.most_, mean);
  };
  const auto [with_debts, limit] = farthest(1, 20'000);
  const auto [without, nowhere] = farthest(1e300, 20'000);
  static_cast<void>(nowhere);
  if (world().rank() != 0) return;
  EXPECT_LT(with_debts, 3);
  EXPECT_NEAR(limit, 1, 0.02);
  EXPECT_GT(without, 1e6);
}

// Client 0 gives all its mass away in round 0, in shares whose rounded sum leaves 2^-55 of it or nothing. Neither is
// mass: it keeps its model, and owes its steps until it is given mass again in round 6.
TEST(StepDebt, IsNotPaidWithMassThatIsRounding) {
  for (const Vector& shares : {Vector{.7, .2, .1}, Vector{.5, .25, .25}}) {
    std::vector<Topology::Phase> phases{{1, {}}, {5, {}}, {1, {}}};
    for (Client u = 1; u < 4; ++u) {
      phases[0].edges.push_back({0, u, shares[static_cast<std::size_t>(u - 1)]});
      for (Topology::Phase& phase : phases) phase.edges.push_back({u, u, &phase == &phases[2] && u == 1 ? 0.5 : 1});
    }
    phases[1].edges.push_back({0, 0, 1});
    phases[2].edges.insert(phases[2].edges.end(), {{0, 0, 1}, {1, 0, 0.5}});
    const Topology topology(4, WeightRule::explicit_weights, {}, phases);
    const auto after = [&](Round rounds) {
      RunSettings settings = settings_for(rounds);
      settings.step = 0.5;
      settings.step_power = 0;
      return run_network(topology, settings, "euclidean", "free", {{8}, {0}, {0}, {0}}, {{0}, {0}, {0}, {0}});
    };
    const NetworkResult without = after(6);
    const NetworkResult with = after(7);
    if (world().rank() != 0) continue;
    EXPECT_LT(without.masses[0], negligible_mass);
    EXPECT_EQ(without.models[0][0], 4);  // after the step of round 0
    EXPECT_NEAR(without.debt, 5 * 0.5, 1e-12);
    EXPECT_GT(with.masses[0], 0.5);
  }
}

}  // namespace starling::changing_graphs_test
