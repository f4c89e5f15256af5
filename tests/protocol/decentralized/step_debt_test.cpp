// Step debt under any step rule: by the chosen cap it is repaid before the end, and the limit is the uniform optimum;
// under a cap that is too small the effective weights say which clients counted for less.
#include <cmath>
#include <limits>

#include "graph/masses.hpp"
#include "graph/overlays/overlays.hpp"
#include "protocol/decentralized/step_cap.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::step_debt_test {

using namespace testing_support;

/// Two clients with stationary masses 1.9 and 0.1, which agree after every exchange.
Topology unequal_pair() {
  return {2, WeightRule::explicit_weights, {{0, 0, .95}, {0, 1, .05}, {1, 0, .95}, {1, 1, .05}}, {}};
}

RunSettings constant_steps(double step, Round rounds) {
  RunSettings settings;
  settings.rounds = rounds;
  settings.step = step;
  settings.step_power = 0;
  return settings;
}

double chosen_cap(const Schedule& schedule, const RunSettings& settings) {
  return repaying_step_cap(settings,
                           least_mean_mass(schedule, {settings.rounds, settings.gossip_steps, settings.lazy}));
}

NetworkResult play_pair(const RunSettings& settings) {
  return run_network(unequal_pair(), settings, "euclidean", "free", {{0}, {0}}, {{0}, {10}});
}

TEST(StepDebt, IsNeverRepaidUnderConstantStepsAndACapOfOne) {
  const NetworkResult result = play_pair(constant_steps(0.01, 4000));
  if (world().rank() != 0) return;
  EXPECT_NEAR(mean_of(result.models)[0], 10 * 0.1 / 1.1, 1e-3);
  EXPECT_EQ(result.weights[0], 1);
  EXPECT_NEAR(result.weights[1], 0.1, 1e-3);
}

TEST(StepDebt, IsRepaidUnderConstantStepsByTheChosenCap) {
  RunSettings settings = constant_steps(0.01, 4000);
  settings.step_cap = chosen_cap(unequal_pair(), settings);
  EXPECT_NEAR(settings.step_cap, 12.5, 1e-9);
  const NetworkResult result = play_pair(settings);
  if (world().rank() != 0) return;
  EXPECT_NEAR(mean_of(result.models)[0], 5, 1e-3);
  EXPECT_EQ(result.weights, (Vector{1, 1}));
  EXPECT_EQ(result.debt, 0);
}

TEST(StepDebt, IsRepaidByStepsWithALargeOffset) {
  RunSettings settings = constant_steps(3, 4000);
  settings.step_power = 0.51;
  settings.step_offset = 1000;
  const NetworkResult capped = play_pair(settings);
  settings.step_cap = chosen_cap(unequal_pair(), settings);
  const NetworkResult result = play_pair(settings);
  if (world().rank() != 0) return;
  EXPECT_LT(mean_of(capped.models)[0], 3);
  EXPECT_NEAR(mean_of(result.models)[0], 5, 1e-3);
  EXPECT_EQ(result.debt, 0);
}

// Falling steps: a cap for the last step alone, 1.25 (η_T/η_1)/w, would leave a third of the debt when the run ends.
TEST(StepDebt, IsRepaidBeforeTheEndOfAShortRun) {
  for (const Round rounds : {20, 100}) {
    RunSettings settings = constant_steps(0.05, rounds);
    settings.step_power = 0.5;
    const double of_last_step = 1.25 / std::sqrt(static_cast<double>(rounds)) / 0.1;
    settings.step_cap = std::max(1.0, of_last_step);
    const NetworkResult too_small = play_pair(settings);
    settings.step_cap = chosen_cap(unequal_pair(), settings);
    const NetworkResult result = play_pair(settings);
    if (world().rank() != 0) continue;
    EXPECT_LT(too_small.weights[1], 0.9) << rounds;
    EXPECT_EQ(result.weights[1], 1) << rounds;
    EXPECT_LT(settings.step_cap, 2.01 * of_last_step + 0.01) << rounds;  // not larger than it need be
  }
}

TEST(StepDebt, OfAClientThatOwesIsAShareOfItsCredit) {
  RunSettings settings = constant_steps(0.01, 10);
  const NetworkResult result = play_pair(settings);
  if (world().rank() != 0) return;
  // Client 1 has a mass of 1 in the first round and of 0.1 in nine: 1.9 steps of ten.
  EXPECT_NEAR(result.weights[1], 0.19, 1e-12);
  EXPECT_NEAR(result.debt, 0.081, 1e-12);
}

TEST(StepCap, IsOneWhereNoMassIsBelowTheAverage) {
  OmdSettings settings;
  settings.rounds = 100;
  settings.step_power = 0;
  EXPECT_EQ(repaying_step_cap(settings, 1), 1);
  EXPECT_EQ(repaying_step_cap(settings, 1 - 1e-12), 1);
}

TEST(StepCap, IsOneWhereStepsFallSoonEnough) {
  OmdSettings settings;
  settings.rounds = 10'000;
  EXPECT_EQ(repaying_step_cap(settings, 0.1), 1);
  EXPECT_GT(repaying_step_cap(settings, 0.01), 1);
}

TEST(StepCap, HasALimitHoweverSmallAMassIs) {
  OmdSettings settings;
  settings.rounds = 100;
  settings.step_power = 0;
  EXPECT_EQ(repaying_step_cap(settings, 1e-9), 1.25 / least_repaid_mass);
}

TEST(MeanStep, IsTheSumOfAllSteps) {
  for (const double power : {0.0, 0.5, 0.51, 1.0, 3.0}) {
    for (const double offset : {0.0, 1000.0}) {
      OmdSettings settings;
      settings.rounds = 50'000;
      settings.step_power = power;
      settings.step_offset = offset;
      double sum = 0;
      for (Round t = 0; t < settings.rounds; ++t) sum += settings.step_at(t) / settings.step_at(0);
      EXPECT_NEAR(mean_step(settings) * static_cast<double>(settings.rounds) / sum, 1, 1e-6) << power << " " << offset;
    }
  }
}

/// Steps that fall along a line, under this cap; infinite: the one that is chosen.
RunSettings falling_steps(const Schedule& schedule, double step, Round rounds, double cap) {
  RunSettings settings;
  settings.rounds = rounds;
  settings.step = step;
  settings.zero_at = rounds;
  settings.step_cap = std::isinf(cap) ? chosen_cap(schedule, settings) : cap;
  settings.longest =
      longest_fair_step(settings, least_mean_mass(schedule, {settings.rounds, settings.gossip_steps, settings.lazy}));
  return settings;
}

/// The mean model of clients with minimisers at 0, but for client `other` with one at 100.
double mean_with_one_at_100(const Schedule& schedule, const RunSettings& settings, std::size_t other) {
  const auto clients = static_cast<std::size_t>(schedule.clients());
  std::vector<Vector> minimisers(clients, Vector{0});
  minimisers[other] = {100};
  const NetworkResult result =
      run_network(schedule, settings, "euclidean", "free", std::vector<Vector>(clients, Vector{0}), minimisers);
  return world().rank() == 0 ? mean_of(result.models)[0] : 20;
}

// Before debts counted in steps and all clients stepped alike, client 4 ended at 66 to 86 with a cap of 1.
TEST(StepDebt, HasNoLastWordWhereStepsFallToZero) {
  const Topology graph = Topology::read(source_folder() + "/topologies/unbalanced-5.topo");
  for (const double cap : {1.0, std::numeric_limits<double>::infinity()}) {
    for (const double step : {0.03, 0.3}) {
      for (const std::size_t other : {std::size_t{0}, std::size_t{3}, std::size_t{4}}) {
        const RunSettings settings = falling_steps(graph, step, 1000, cap);
        EXPECT_NEAR(mean_with_one_at_100(graph, settings, other), 20, 1) << cap << " " << step << " " << other;
      }
    }
  }
}

TEST(StepDebt, HasNoLastWordWhereMessagesAreLost) {
  const LossySchedule schedule(
      std::make_unique<Topology>(Topology::read(source_folder() + "/topologies/unbalanced-5.topo")),
      LinkLossSettings{0.3, LossModel::unacknowledged, 2}, MissingWeight::sender_keeps);
  for (const std::size_t other : {std::size_t{0}, std::size_t{4}}) {
    RunSettings settings = falling_steps(schedule, 0.1, 1000, std::numeric_limits<double>::infinity());
    settings.running_sums = true;
    EXPECT_NEAR(mean_with_one_at_100(schedule, settings, other), 20, 1) << other;
  }
}

TEST(StepSchedule, AddsUpStepsThatAreBoundedAndFallAlongALine) {
  StepSchedule schedule;
  schedule.step = 2;
  schedule.zero_at = 10;
  for (const double longest : {0.3, 1.0, 1.5, 2.0, 5.0}) {
    schedule.longest = longest;
    for (Round begin = 0; begin <= 12; ++begin) {
      double sum = 0;
      for (Round end = begin; end <= 12; ++end) {
        EXPECT_NEAR(schedule.steps_between(begin, end), sum, 1e-12) << longest << " " << begin << " " << end;
        sum += schedule.step_at(end);
      }
    }
  }
}

}  // namespace starling::step_debt_test
