// Pure mixing over topologies, against exact answers (docs/methods/decentralized.md, "Exact cases").
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "graph/topology.hpp"

namespace starling::mixing_test {

using Values = std::vector<double>;
constexpr double tolerance = 1e-12;

/// Push-sum of one number per client, without steps: s = Σ A s, w = Σ A w, z = s / w.
class PushSum {
 public:
  PushSum(const Graph& topology, Values start) : topology_(topology), s_(std::move(start)), w_(s_.size(), 1) {}

  void run(Round rounds) {
    for (; rounds > 0; --rounds, ++t_) {
      s_ = mixed(s_);
      w_ = mixed(w_);
    }
  }
  [[nodiscard]] Values z() const {
    Values z = s_;
    for (std::size_t u = 0; u < z.size(); ++u) z[u] /= w_[u];
    return z;
  }
  [[nodiscard]] const Values& s() const { return s_; }
  [[nodiscard]] const Values& w() const { return w_; }

 private:
  [[nodiscard]] Values mixed(const Values& x) const {
    Values y(x.size());
    for (std::size_t u = 0; u < x.size(); ++u) {
      const Links links = topology_.links(static_cast<Client>(u), t_);
      y[u] = links.own * x[u];
      for (const Arc& arc : links.in) y[u] += arc.weight * x[static_cast<std::size_t>(arc.peer)];
    }
    return y;
  }
  const Graph& topology_;
  Values s_;
  Values w_;
  Round t_ = 0;
};

void expect_near(const Values& actual, const Values& expected, double within = tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t u = 0; u < actual.size(); ++u) EXPECT_NEAR(actual[u], expected[u], within) << "client " << u;
}

double sum(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Values counting(std::size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(Mixing, OnePeerExponentialIsExactForPowersOfTwo) {
  for (const auto& [n, rounds] : {std::pair<Client, Round>{4, 2}, {8, 3}, {16, 4}}) {
    const auto topology = topology_table().make("one-peer-exponential", n, WeightRule::sender);
    const auto count = static_cast<std::size_t>(n);
    PushSum mixing(*topology, counting(count));
    mixing.run(rounds);
    EXPECT_EQ(mixing.z(), Values(count, (n - 1) / 2.0));
  }
}

TEST(Mixing, OnePeerExponentialOfSix) {
  const auto topology = topology_table().make("one-peer-exponential", 6, WeightRule::sender);
  PushSum mixing(*topology, counting(6));
  mixing.run(3);
  expect_near(mixing.z(), {2.5, 2, 2.25, 2.5, 2.75, 3});
}

TEST(Mixing, UnbalancedDigraphAveragesByPushSum) {
  const Topology topology = Topology::parse("clients 3\nedge 0 1\nedge 0 2\nedge 1 2\nedge 2 0\n", "f.topo");
  PushSum mixing(topology, {0, 3, 6});
  mixing.run(1);
  expect_near(mixing.z(), {18.0 / 5, 9.0 / 5, 27.0 / 8});
  expect_near(mixing.w(), {5.0 / 6, 5.0 / 6, 4.0 / 3});
  mixing.run(1);
  expect_near(mixing.w(), {17.0 / 18, 25.0 / 36, 49.0 / 36});
  mixing.run(100);
  expect_near(mixing.z(), {3, 3, 3});
  expect_near(mixing.w(), {1, 2.0 / 3, 4.0 / 3});
}

TEST(Mixing, JointlyConnectedPhasesAverage) {
  const Topology topology =
      Topology::parse("clients 4\nphase 1\nedge 0 1\nedge 2 3\nphase 1\nedge 1 2\nedge 3 0\n", "f.topo");
  PushSum mixing(topology, {0, 4, 8, 12});
  mixing.run(1);
  expect_near(mixing.z(), {0, 8.0 / 3, 8, 32.0 / 3});
  for (int round = 1; round < 150; ++round) {
    mixing.run(1);
    EXPECT_NEAR(sum(mixing.s()), 24, tolerance);
    EXPECT_NEAR(sum(mixing.w()), 4, tolerance);
  }
  expect_near(mixing.z(), {6, 6, 6, 6});
}

TEST(Mixing, ALinkKnownToBeDownLosesNothing) {
  const Topology topology =
      Topology::parse("clients 4\nedge 1 2\nedge 2 3\nedge 3 0\nphase 1\nphase 2\nedge 0 1\n", "f.topo");
  PushSum mixing(topology, {0, 4, 8, 12});
  mixing.run(150);
  expect_near(mixing.z(), {6, 6, 6, 6});
  EXPECT_NEAR(sum(mixing.w()), 4, tolerance);
}

TEST(Mixing, MetropolisPath) {
  const Topology topology = Topology::parse(
      "clients 4\nweights metropolis\nedge 0 1\nedge 1 0\nedge 1 2\nedge 2 1\nedge 2 3\nedge 3 2\n", "f.topo");
  PushSum mixing(topology, {0, 1, 2, 3});
  mixing.run(1);
  expect_near(mixing.s(), {1.0 / 3, 1, 2, 8.0 / 3});
  expect_near(mixing.w(), {1, 1, 1, 1});
}

}  // namespace starling::mixing_test
