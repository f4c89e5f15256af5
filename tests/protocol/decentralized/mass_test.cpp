#include <cmath>

#include "protocol/network.hpp"
#include "support/testing.hpp"

namespace starling::mass_test {

using namespace testing_support;

// Shares are what a sender gives, the own share is what is left: no rounding can lose mass for long.
TEST(Mass, IsKeptOverAMillionRounds) {
  for (const std::string name : {"unbalanced-5.topo", "jointly-connected-4.topo", "small-mass-8.topo"}) {
    const Topology topology = Topology::read(source_folder() + "/topologies/" + name);
    std::vector<Vector> start;
    for (Client u = 0; u < topology.clients(); ++u) start.push_back({1.0 / (1 + u)});
    RunSettings settings;
    settings.rounds = 1'000'000;
    const auto result = run_network(topology, settings, "euclidean", "free", start, {});
    if (world().rank() == 0) {
      EXPECT_LE(std::abs(result.mass - static_cast<double>(topology.clients())), 1e-9) << name;
    }
  }
}

}  // namespace starling::mass_test
