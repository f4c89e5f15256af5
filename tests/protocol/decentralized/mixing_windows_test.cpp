// Mixing through windows: the bits of mixing by messages, on any graph and layout, whoever is slow.
#include "protocol/troubled.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"
#include <bit>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "starling/core/random.hpp"
#include "starling/graph/graph.hpp"
#include "starling/graph/topology.hpp"
#include "starling/protocol/decentralized/synchronous_mixer.hpp"

namespace starling::mixing_windows_test {

using testing_support::world;

struct Case {
  std::string name;
  std::function<std::unique_ptr<Schedule>()> schedule;
  std::size_t dimension;
  MixingSettings settings = {};
  Round rounds = 30;
};

/// Ranks take their time for their steps, now one and now another.
void dawdle(Round t) {
  AddressedRandom random(9, Purpose::experiment, static_cast<std::uint64_t>(world().rank()),
                         static_cast<std::uint64_t>(t));
  if (random.uniform() < 0.1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What this rank's clients hold after some rounds of steps that nobody averages away, and the traffic.
struct Outcome {
  Vector numbers;
  std::vector<std::int64_t> traffic;
};

Outcome play(const Schedule& schedule, const Case& c, ExchangeWay way) {
  const auto& [name, make, d, settings, rounds] = c;
  const Layout layout(schedule.clients(), world().size());
  Neighbours neighbours(world(), layout, message_length(d, settings.mixing), way);
  EXPECT_EQ(neighbours.has_windows(), way == ExchangeWay::windows && world().size() > 1);
  SynchronousMixer mixer(neighbours, schedule, settings);
  const std::size_t count = neighbours.count();
  Holdings holdings{declare_public(Columns(d, count)), Vector(count, 1.0)};
  TimeShares shares;
  for (Round t = 0; t < rounds && count > 0; ++t) {
    EXPECT_TRUE(mixer.begin_round(t));
    dawdle(t);
    holdings.state.update([&](Columns& state) {
      for (std::size_t k = 0; k < count; ++k) {
        const auto u = static_cast<std::uint64_t>(neighbours.first()) + k;
        AddressedRandom random(3, Purpose::experiment, u, static_cast<std::uint64_t>(t));
        for (double& value : state[k]) value += random.uniform() - 0.3;
      }
    });
    Stopwatch watch(false);
    mixer.mix(holdings, watch, shares);
  }
  mixer.finish(holdings);
  Outcome outcome;
  const View all = holdings.state.value().flat();
  outcome.numbers.assign(all.begin(), all.end());
  outcome.numbers.insert(outcome.numbers.end(), holdings.mass.begin(), holdings.mass.end());
  for (const EdgeTraffic& edge : neighbours.edge_traffic()) {
    outcome.traffic.insert(outcome.traffic.end(), {edge.from, edge.to, edge.messages, edge.bytes});
  }
  outcome.traffic.insert(outcome.traffic.end(), {neighbours.wire_traffic().messages, neighbours.wire_traffic().bytes});
  return outcome;
}

class MixingWindows : public testing::TestWithParam<Case> {};

TEST_P(MixingWindows, GiveTheBitsOfMessages) {
  const Case c = GetParam();
  const auto schedule = c.schedule();
  const Outcome expected = play(*schedule, c, ExchangeWay::messages);
  const Outcome found = play(*schedule, c, ExchangeWay::windows);
  EXPECT_EQ(found.traffic, expected.traffic);
  EXPECT_EQ(found.numbers.size(), expected.numbers.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < std::min(found.numbers.size(), expected.numbers.size()); ++i) {
    different +=
        std::bit_cast<std::uint64_t>(found.numbers[i]) != std::bit_cast<std::uint64_t>(expected.numbers[i]) ? 1 : 0;
  }
  EXPECT_EQ(different, 0U);
}

std::vector<Case> cases() {
  const auto sender = [](const std::string& spec, Client n) {
    return [=] { return make_graph(spec, n, WeightRule::sender); };
  };
  MixingSettings plain;
  plain.mixing = Mixing::plain;
  MixingSettings lazy;
  lazy.lazy = 0.25;
  lazy.gossip_steps = 3;
  MixingSettings twice;
  twice.gossip_steps = 2;
  return {
      {"ring", sender("ring", 7), 300},
      {"directed ring", sender("directed-ring", 8), 20},
      {"exponential", sender("exponential", 8), 5000},  // several stretches of a sum
      {"complete", sender("complete", 7), 1000},
      {"complete of many clients", sender("complete", 23), 3},
      {"one peer", sender("one-peer-exponential", 8), 40},
      {"one peer lazily", sender("one-peer-exponential", 11), 40, lazy},
      {"endless matching", sender("random-matching:rounds=endless", 9), 100},
      {"absences and losses", [] { return testing_support::troubled(10); }, 70},
      {"absences and losses in two gossip steps", [] { return testing_support::troubled(9, 2); }, 7, twice},
      {"plain", sender("ring", 6), 60, plain},
      {"fewer clients than ranks", sender("complete", 3), 60},
      {"one long block of a rank", sender("directed-ring", 8), 280'000, {}, 4},  // on two ranks and four
  };
}

INSTANTIATE_TEST_SUITE_P(Graphs, MixingWindows, testing::ValuesIn(cases()),
                         [](const auto& row) { return testing_support::test_name(row.param.name); });

}  // namespace starling::mixing_windows_test
