// The same clients on any number of ranks: equal bit for bit. Each rank count plays the whole network and compares with
// one rank's digest, which is worked out here by an independent serial simulation of the same round.
#include <bit>
#include <cmath>
#include <functional>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "protocol/network.hpp"
#include "protocol/plain_mixing.hpp"
#include "protocol/troubled.hpp"
#include "support/testing.hpp"

namespace starling::layout_test {

using namespace testing_support;

/// The method of docs/methods/decentralized.md written down once more, for all clients in one loop: Euclidean, free,
/// push-sum, quadratic losses.
std::vector<Vector> simulated(const Schedule& schedule, const RunSettings& settings, const std::vector<Vector>& start,
                              const std::vector<Vector>& minimisers) {
  PlainMixing mixing(schedule, settings, start);
  Vector debt(start.size(), 0.0);
  for (Round t = 0; t < settings.rounds; ++t) {
    for (std::size_t u = 0; u < start.size(); ++u) {
      const Attendance attendance = schedule.attendance(static_cast<Client>(u), t);
      if (attendance == Attendance::gone) continue;
      if (attendance == Attendance::absent && settings.absent == OmdSettings::Absent::freezes) continue;
      debt[u] += settings.step / std::pow(static_cast<double>(t + 1), settings.step_power);
      const double w = mixing.masses()[u];
      const double use = std::min(debt[u], settings.step * w);
      debt[u] -= use;
      Vector& x = mixing.states()[u];
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += -(use / w) * (x[i] - minimisers[u][i]);
    }
    mixing.mix(t);
  }
  return mixing.states();
}

struct Case {
  std::string name;
  std::function<std::unique_ptr<Schedule>()> schedule;
  std::size_t dimension;  ///< on both sides of the switch to persistent requests
  RunSettings settings = {};
};

std::unique_ptr<Graph> ready(const std::string& name) {
  return read_graph(source_folder() + "/topologies/" + name);
}

class AnyLayout : public testing::TestWithParam<Case> {};

TEST_P(AnyLayout, GivesTheBitsOfASerialSimulation) {
  const auto schedule = GetParam().schedule();
  const std::size_t d = GetParam().dimension;
  const auto n = static_cast<std::uint64_t>(schedule->clients());
  std::vector<Vector> start;
  std::vector<Vector> minimisers;
  for (std::uint64_t u = 0; u < n; ++u) {
    AddressedRandom random(3, Purpose::experiment, u, 0);
    Vector& x = start.emplace_back(d);
    Vector& c = minimisers.emplace_back(d);
    for (double& value : x) value = random.normal();
    for (double& value : c) value = random.normal();
  }
  RunSettings settings = GetParam().settings;
  settings.rounds = 60;
  settings.step = 0.7;
  const auto expected = simulated(*schedule, settings, start, minimisers);
  for (const ExchangeWay way : {ExchangeWay::messages, ExchangeWay::windows}) {
    settings.exchange = way;
    const auto result = run_network(*schedule, settings, "euclidean", "free", start, minimisers);
    if (world().rank() != 0) continue;
    std::size_t different = 0;
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t i = 0; i < d; ++i) {
        different +=
            std::bit_cast<std::uint64_t>(result.models[u][i]) != std::bit_cast<std::uint64_t>(expected[u][i]) ? 1 : 0;
      }
    }
    EXPECT_EQ(different, 0U) << (way == ExchangeWay::windows ? "through windows" : "by messages");
    EXPECT_NEAR(result.mass + result.in_flight, static_cast<double>(n), 1e-12);
  }
}

RunSettings with(const std::function<void(RunSettings&)>& change) {
  RunSettings settings;
  change(settings);
  return settings;
}

std::vector<Case> cases() {
  const auto endless = [](const std::string& spec, Client n) { return make_graph(spec, n, WeightRule::sender); };
  const RunSettings sums = with([](RunSettings& s) { s.running_sums = true; });
  const RunSettings freezing = with([](RunSettings& s) { s.absent = OmdSettings::Absent::freezes; });
  const RunSettings twice = with([](RunSettings& s) { s.gossip_steps = 2; });
  return {
      {"unbalanced", [] { return ready("unbalanced-5.topo"); }, 3},
      {"unbalanced long", [] { return ready("unbalanced-5.topo"); }, 2500},  // several stretches of a sum
      {"phases", [] { return ready("jointly-connected-4.topo"); }, 17},
      {"one peer", [] { return ready("one-peer-exponential-8.topo"); }, 5},
      {"random", [] { return ready("erdos-renyi-20.topo"); }, 130},
      {"running sums", [] { return ready("unbalanced-5.topo"); }, 3, sums},
      {"endless matching", [=] { return endless("random-matching:rounds=endless", 9); }, 4},
      {"endless random", [=] { return endless("erdos-renyi:rounds=endless,p=0.3", 12); }, 120},
      {"endless random with running sums", [=] { return endless("erdos-renyi:rounds=endless,p=0.3", 12); }, 3, sums},
      {"absent and lossy", [] { return troubled(ready("unbalanced-5.topo"), LossModel::acknowledged); }, 3},
      {"freezing and lossy", [] { return troubled(10); }, 7, freezing},
      {"absent, losses unknown",
       [=] { return troubled(endless("b-connected:rounds=endless,window=3", 10), LossModel::unacknowledged); }, 7,
       sums},
      {"explicit weights, losses unknown",
       [] { return troubled(ready("lost-link-4.topo"), LossModel::unacknowledged); }, 110, sums},
      {"two gossip steps", [] { return troubled(10, 2); }, 7, twice},
  };
}

INSTANTIATE_TEST_SUITE_P(Graphs, AnyLayout, testing::ValuesIn(cases()),
                         [](const auto& row) { return test_name(row.param.name); });

}  // namespace starling::layout_test
