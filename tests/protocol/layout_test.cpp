// The same clients on any number of ranks: equal bit for bit. Each rank count plays the whole network and compares with
// one rank's digest, which is worked out here by an independent serial simulation of the same round.
#include "network.hpp"
#include "support/testing.hpp"
#include <bit>
#include <cmath>

#include "starling/core/kernels.hpp"
#include "starling/core/random.hpp"

namespace starling {
namespace {

using testing_support::run_network;
using testing_support::RunSettings;
using testing_support::world;

/// Method 1 written down once more, for all clients in one loop: Euclidean, free, push-sum, quadratic losses.
std::vector<Vector> simulate(const Topology& topology, const RunSettings& settings, std::vector<Vector> x,
                             const std::vector<Vector>& minimisers) {
  const std::size_t n = x.size();
  const std::size_t d = x.front().size();
  Vector w(n, 1.0);
  Vector debt(n, 0.0);
  for (Round t = 0; t < settings.rounds; ++t) {
    std::vector<Vector> sent(n, Vector(d + 1));
    for (std::size_t u = 0; u < n; ++u) {
      debt[u] += settings.step / std::pow(static_cast<double>(t + 1), settings.step_power);
      const double use = std::min(debt[u], settings.step * w[u]);
      debt[u] -= use;
      for (std::size_t i = 0; i < d; ++i) {
        const double z = x[u][i] + -(use / w[u]) * (x[u][i] - minimisers[u][i]);
        sent[u][i] = w[u] * z;
      }
      sent[u][d] = w[u];
    }
    for (std::size_t u = 0; u < n; ++u) {
      Vector total(d + 1, 0.0);
      for (std::size_t v = 0; v < n; ++v) {  // in sender order
        if (v == u) {
          Vector left = sent[u];
          for (const Arc& arc : topology.links(static_cast<Client>(u), t).out) {
            for (std::size_t i = 0; i <= d; ++i) left[i] -= arc.weight * sent[u][i];
          }
          for (std::size_t i = 0; i <= d; ++i) total[i] += left[i];
        }
        for (const Arc& arc : topology.links(static_cast<Client>(v), t).out) {
          if (arc.peer != static_cast<Client>(u)) continue;
          for (std::size_t i = 0; i <= d; ++i) total[i] += arc.weight * sent[v][i];
        }
      }
      w[u] = total[d];
      for (std::size_t i = 0; i < d; ++i) x[u][i] = total[i] / w[u];
    }
  }
  return x;
}

struct Case {
  std::string topology;
  std::size_t dimension;  ///< on both sides of the switch to persistent requests
};

class AnyLayout : public testing::TestWithParam<Case> {};

TEST_P(AnyLayout, GivesTheBitsOfASerialSimulation) {
  const auto [name, d] = GetParam();
  const Topology topology = Topology::read(std::string(STARLING_SOURCE_DIR) + "/topologies/" + name);
  const auto n = static_cast<std::uint64_t>(topology.clients());
  std::vector<Vector> start;
  std::vector<Vector> minimisers;
  for (std::uint64_t u = 0; u < n; ++u) {
    AddressedRandom random(3, Purpose::experiment, u, 0);
    Vector& x = start.emplace_back(d);
    Vector& c = minimisers.emplace_back(d);
    for (double& value : x) value = random.normal();
    for (double& value : c) value = random.normal();
  }
  RunSettings settings;
  settings.rounds = 60;
  settings.step = 0.7;
  const auto result = run_network(topology, settings, "euclidean", "free", start, minimisers);
  if (world().rank() != 0) return;
  const auto expected = simulate(topology, settings, start, minimisers);
  std::size_t different = 0;
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t i = 0; i < d; ++i) {
      different +=
          std::bit_cast<std::uint64_t>(result.models[u][i]) != std::bit_cast<std::uint64_t>(expected[u][i]) ? 1 : 0;
    }
  }
  EXPECT_EQ(different, 0U);
}

INSTANTIATE_TEST_SUITE_P(Graphs, AnyLayout,
                         testing::Values(Case{"unbalanced-5.topo", 3}, Case{"unbalanced-5.topo", 1001},
                                         Case{"jointly-connected-4.topo", 17}, Case{"one-peer-exponential-8.topo", 5},
                                         Case{"erdos-renyi-20.topo", 130}),
                         [](const auto& row) {
                           return testing_support::test_name(
                               fmt::format("{}_{}", row.param.topology, row.param.dimension));
                         });

}  // namespace
}  // namespace starling
