// Messages that get lost unnoticed: mass and sum move as one pair, so clients that keep no share of their own lose
// neither, whatever the loss rate, in step, with deadlines and without waiting.
#include "protocol/decentralized/running_sums.hpp"

#include <cmath>
#include <optional>
#include <tuple>

#include "core/random.hpp"
#include "graph/overlays/overlays.hpp"
#include "graph/topology.hpp"
#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::running_sums_test {

using namespace testing_support;

TEST(MassSplit, AddsUpExactly) {
  AddressedRandom random(4, Purpose::experiment, 0, 0);
  for (int trial = 0; trial < 10'000; ++trial) {
    const double mass = random.uniform() * std::pow(2, -static_cast<double>(trial % 40));
    MassSplit split(mass);
    double before = mass;
    for (int i = 0; i < 6; ++i) {
      const double share = split.take(mass * (i < 5 ? 0.21 * random.uniform() : 1.0));
      EXPECT_EQ(before - share, split.left());
      EXPECT_EQ(split.left() + share, before);
      EXPECT_GE(share, 0);
      before = split.left();
    }
    EXPECT_EQ(split.left(), 0) << "all of it was asked for";
  }
}

// Sums of a million rounds know shares of a mass at the limit of what is still split.
TEST(RunningSums, DoNotLoseSmallSharesInLongRuns) {
  RunningSums sender;
  RunningSums receiver;
  Vector news(2);
  const Vector z{-3};
  for (int t = 0; t < 1'000'000; ++t) sender.send(1, z, 1.1, false);
  EXPECT_NEAR(sender.in_flight(), 1.1e6, 1e-3);
  receiver.accept(0, sender.send(1, z, 1.1, true), news);
  EXPECT_NEAR(news[1], 1.1 * 1'000'001, 1e-9);
  EXPECT_EQ(sender.in_flight(), 0);
  const double little = 1.7 * negligible_mass;
  for (const double lost : {0.0, little}) {
    if (lost > 0) sender.send(1, z, lost, false);
    const View sum = sender.send(1, z, little, true);
    EXPECT_NEAR(receiver.new_mass(0, sum) / (lost + little), 1, 1e-11);
    receiver.accept(0, sum, news);
    EXPECT_NEAR(news[1] / (lost + little), 1, 1e-11);
    EXPECT_NEAR(news[0] / news[1], -3, 1e-11);
  }
}

struct Case {
  std::string name;
  std::string topology;
  std::vector<Vector> start;
  bool mixes_without_loss = true;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"one_gives_all_away",
       "clients 3\nweights explicit\nedge 0 0 0.7\nedge 0 1 0.3\nedge 1 1 0.4\nedge 1 2 0.6\nedge 2 0 1\n",
       {{1.1}, {10.3}, {40.7}}},
      // All mass wanders on; it gathers where a message is made good together with the next.
      {"random_walk_on_a_ring",
       "clients 3\nweights explicit\nedge 0 1 1\nedge 1 2 1\nedge 2 0 1\n",
       {{1.1}, {10.3}, {40.7}},
       false},
      {"random_walk_on_two_cycles",
       "clients 4\nweights explicit\nedge 0 1 0.1\nedge 0 2 0.9\nedge 1 2 1\nedge 2 3 1\nedge 3 0 1\n",
       {{0.2}, {-7}, {55.5}, {9.1}}},
  };
  return all;
}

using Run = std::tuple<Case, double, std::optional<double>>;
class LostMessages : public testing::TestWithParam<Run> {};

TEST_P(LostMessages, KeepTheAverageOfTheStarts) {
  const auto& [c, rate, deadline] = GetParam();
  std::unique_ptr<Schedule> schedule = std::make_unique<Topology>(Topology::parse(c.topology, c.name));
  if (rate > 0) {
    schedule = std::make_unique<LossySchedule>(
        std::move(schedule), LinkLossSettings{rate, LossModel::unacknowledged, 5}, MissingWeight::sender_keeps);
  }
  RunSettings settings;
  settings.rounds = 3000;
  settings.running_sums = rate > 0;
  settings.deadline = deadline;
  const NetworkResult result = run_network(*schedule, settings, "euclidean", "free", c.start, {});
  if (world().rank() != 0) return;
  const double n = static_cast<double>(c.start.size());
  double mean = 0;
  for (const Vector& x : c.start) mean += x[0] / n;
  EXPECT_NEAR(result.mass + result.in_flight, n, 1e-12);
  if (deadline) {
    EXPECT_EQ(result.in_flight, 0);
  }
  // In step, models have met by now, unless no message is ever lost on a ring: then they only go round.
  if (!deadline && (c.mixes_without_loss || rate >= 0.05)) {
    for (const Vector& x : result.models) EXPECT_NEAR(x[0], mean, 1e-9);
  }
  // Whatever met when, the mean weighted by mass is kept.
  if (result.in_flight > 0) return;
  double kept = 0;
  for (std::size_t u = 0; u < c.start.size(); ++u) kept += result.masses[u] * result.models[u][0] / n;
  EXPECT_NEAR(kept, mean, 1e-9);
  if (c.name != cases().front().name) return;
  for (const Vector& x : result.models) EXPECT_NEAR(x[0], mean, 1e-3);
}

std::string name_of_run(const testing::TestParamInfo<Run>& row) {
  const auto& [c, rate, deadline] = row.param;
  const std::string pace = !deadline ? "in_step" : *deadline > 0 ? "deadline" : "async";
  return c.name + "_" + pace + "_" + std::to_string(static_cast<int>(std::ceil(rate * 100)));
}

INSTANTIATE_TEST_SUITE_P(Runs, LostMessages,
                         testing::Combine(testing::ValuesIn(cases()), testing::Values(0, 1e-12, 0.05, 0.3),
                                          testing::Values(std::nullopt, std::optional(0.0), std::optional(2e-5))),
                         name_of_run);

// The least of the mass reaches the ends of a simplex and of a ball from inside: a model is a mean of models, never
// made of what rounding left.
class RandomWalk : public testing::TestWithParam<std::tuple<double, std::optional<double>>> {};

TEST_P(RandomWalk, StaysInTheSimplex) {
  class Inside final : public Observer {
   public:
    void after(const RoundView& view) override {
      const Released<Columns> models = view.models();
      for (std::size_t k = 0; k < models.value().size(); ++k) {
        double sum = 0;
        for (const double x : models.value()[k]) {
          inside_ = inside_ && x >= 0;
          sum += x;
        }
        inside_ = inside_ && std::abs(sum - 1) < 1e-9;
      }
    }
    bool inside_ = true;
  };
  const auto [rate, deadline] = GetParam();
  // Ten shares of a tenth leave a rest of rounding; client 3 has a share so small that little else arrives at times.
  std::unique_ptr<Schedule> schedule = std::make_unique<Topology>(Topology::parse(
      "clients 4\nweights explicit\nedge 0 1 0.1\nedge 0 2 0.2\nedge 0 3 0.7\nedge 1 0 0.6\nedge 1 2 0.3\n"
      "edge 1 3 0.1\nedge 2 0 0.3\nedge 2 1 0.7\nedge 3 0 0.000000000001\nedge 3 1 0.999999999999\n",
      "walk"));
  if (rate > 0) {
    schedule = std::make_unique<LossySchedule>(
        std::move(schedule), LinkLossSettings{rate, LossModel::unacknowledged, 5}, MissingWeight::sender_keeps);
  }
  Inside inside;
  RunSettings settings;
  settings.rounds = 4000;
  settings.running_sums = rate > 0;
  settings.deadline = deadline;
  settings.observers = {&inside};
  const std::vector<Vector> start(4, Vector(3, 1.0 / 3));
  const std::vector<Vector> minimisers{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0.5, 0}};
  const NetworkResult result = run_network(*schedule, settings, "entropic", "simplex", start, minimisers);
  EXPECT_TRUE(inside.inside_);
  if (world().rank() != 0) return;
  EXPECT_NEAR(result.mass + result.in_flight, 4, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Runs, RandomWalk,
                         testing::Combine(testing::Values(0, 0.3),
                                          testing::Values(std::nullopt, std::optional(0.0), std::optional(2e-5))));

// Learning over lost messages ends where it ends without, where a client keeps no share of its own.
TEST(LostMessages, DoNotHarmLearning) {
  const auto topology = [] { return std::make_unique<Topology>(Topology::parse(cases().front().topology, "three")); };
  RunSettings settings;
  settings.rounds = 20'000;
  settings.step = 0.5;
  settings.running_sums = true;
  const std::vector<Vector> minimisers{{5}, {20}, {80}};
  for (const double rate : {1e-12, 0.05, 0.3}) {
    const LossySchedule schedule(topology(), LinkLossSettings{rate, LossModel::unacknowledged, 5},
                                 MissingWeight::sender_keeps);
    const auto result = run_network(schedule, settings, "euclidean", "free", {{0}, {0}, {0}}, minimisers);
    if (world().rank() != 0) continue;
    for (const Vector& x : result.models) EXPECT_NEAR(x[0], 35, 1.5) << rate;
  }
}

}  // namespace starling::running_sums_test
