// Endless graphs follow their distributions. Seeds are fixed; each comparison fails by chance once in a million seeds.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/graph.hpp"
#include "graph/random_pairs.hpp"
#include "graph/statistics.hpp"

namespace starling::random_graphs_test {

using namespace testing_support;

/// A count of n trials of probability p, within what one in a million exceeds on either side.
void expect_binomial(double count, double n, double p, const std::string& what) {
  EXPECT_NEAR(count, n * p, (one_in_a_million + 0.2) * std::sqrt(n * p * (1 - p)) + 1) << what;
}

/// How often each ordered pair of different clients is joined over the rounds.
std::vector<int> pair_counts(const Schedule& graph, Round rounds) {
  const Client n = graph.clients();
  std::vector<int> counts(static_cast<std::size_t>(n * n), 0);
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 0; u < n; ++u) {
      for (const Arc& arc : graph.links(u, t).out) ++counts[static_cast<std::size_t>(u * n + arc.peer)];
    }
  }
  std::vector<int> pairs;
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < n; ++v) {
      if (v != u) pairs.push_back(counts[static_cast<std::size_t>(u * n + v)]);
    }
  }
  return pairs;
}

TEST(RandomGraphs, ErdosRenyiJoinsEveryPairWithItsProbability) {
  constexpr Round rounds = 2'000;
  for (const double p : {0.03, 0.2, 0.5, 0.9}) {
    const RandomPairs::Kind kinds[] = {RandomPairs::Kind::directed, RandomPairs::Kind::undirected};
    for (const auto kind : kinds) {
      constexpr Client n = 12;
      const RandomPairs pairs(5, n, p, kind);
      std::map<std::pair<Client, Client>, int> counts;
      for (Round t = 0; t < rounds; ++t) {
        for (Client u = 0; u < n; ++u) {
          for (const Client v : pairs.receivers(u, t)) ++counts[{u, v}];
        }
      }
      for (Client u = 0; u < n; ++u) {
        for (Client v = 0; v < n; ++v) {
          if (u != v) expect_binomial(counts[{u, v}], rounds, p, fmt::format("{} to {} at {}", u, v, p));
        }
      }
      EXPECT_EQ((counts[{3, 3}]), 0);
    }
  }
}

TEST(RandomGraphs, ErdosRenyiHasIndependentPairs) {
  // The number of edges of a round is binomial, so its variance over rounds is what independence makes it; and what one
  // round has says nothing of the next. The relative error of a variance of 5,000 near-normal values is √(2/5,000).
  constexpr Round rounds = 5'000;
  constexpr Client n = 25;
  constexpr double p = 0.08;
  const RandomPairs pairs(6, n, p, RandomPairs::Kind::directed);
  std::vector<double> edges;
  for (Round t = 0; t < rounds; ++t) {
    double count = 0;
    for (Client u = 0; u < n; ++u) count += static_cast<double>(pairs.receivers(u, t).size());
    edges.push_back(count - n * (n - 1) * p);
  }
  double square = 0;
  double lagged = 0;
  for (std::size_t t = 0; t + 1 < edges.size(); ++t) {
    square += edges[t] * edges[t];
    lagged += edges[t] * edges[t + 1];
  }
  const double variance = n * (n - 1) * p * (1 - p);
  EXPECT_NEAR(square / rounds / variance, 1, 5 * std::sqrt(2.0 / rounds));
  EXPECT_NEAR(lagged / rounds / variance, 0, 5 * std::sqrt(1.0 / rounds));
}

TEST(RandomGraphs, ErdosRenyiHasDegreesInAndOutAsTheBinomialSays) {
  // 20,000 degrees of Binomial(99, 0.05); the classes 0, 1, …, 11 and more hold 100 at least.
  constexpr Client n = 100;
  constexpr double p = 0.05;
  const RandomPairs pairs(7, n, p, RandomPairs::Kind::directed);
  std::vector<double> out(13, 0);
  std::vector<double> in(13, 0);
  constexpr Round rounds = 200;
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 0; u < n; ++u) {
      ++out[std::min<std::size_t>(12, pairs.receivers(u, t).size())];
      ++in[std::min<std::size_t>(12, pairs.senders(u, t).size())];
    }
  }
  double probability = std::pow(1 - p, n - 1);
  for (std::size_t k = 0; k < 12; ++k) {
    expect_binomial(out[k], rounds * n, probability, fmt::format("out-degree {}", k));
    // In-degrees of one round hang together a little less than independent ones: the same bound holds.
    expect_binomial(in[k], rounds * n, probability, fmt::format("in-degree {}", k));
    const auto next = static_cast<double>(k);
    probability *= (n - 1 - next) / (next + 1) * p / (1 - p);
  }
}

TEST(RandomGraphs, MatchingsAndRegularDigraphsPreferNobody) {
  for (const char* spec : {"random-matching:seed=3,rounds=endless", "random-regular:degree=3,seed=3,rounds=endless"}) {
    for (const Client n : {4, 6, 9, 12}) {
      const auto graph = make_graph(spec, n, WeightRule::sender);
      const std::vector<int> counts = pair_counts(*graph, 5'000);
      // Sums over receivers are nearly fixed and pairs of a matching count twice: fewer degrees of freedom than cells,
      // and at most twice the statistic of independent counts.
      EXPECT_LT(chi_square(counts) / 2, chi_square_limit(counts.size() - 1)) << spec << " of " << n;
    }
  }
}

TEST(RandomGraphs, BConnectedSendsExtrasWithTheirProbability) {
  constexpr Client n = 40;
  constexpr Round rounds = 2'000;
  const auto circle = make_graph("b-connected:window=4,extra=0,rounds=endless", n, WeightRule::sender);
  const auto graph = make_graph("b-connected:window=4,extra=0.3,rounds=endless", n, WeightRule::sender);
  double resting = 0;
  double extras = 0;
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 0; u < n; ++u) {
      if (!circle->links(u, t).out.empty()) continue;
      ++resting;
      extras += static_cast<double>(graph->links(u, t).out.size());
    }
  }
  expect_binomial(extras, resting, 0.3 * (1 - 1.0 / n), "extras");  // one in n would send to itself
}

TEST(RandomGraphs, ARowOfErdosRenyiCostsTheRootOfClientsTimesDegree) {
  for (const Client n : {1'000, 10'000, 1'000'000}) {
    for (const double degree : {2.0, 18.0, 200.0}) {
      const RandomPairs pairs(1, n, degree / n, RandomPairs::Kind::directed);
      EXPECT_LE(pairs.blocks_of_row(), std::sqrt(n * degree) + 1) << n << " clients of degree " << degree;
    }
  }
}

TEST(RandomGraphs, TakeTenThousandClients) {
  constexpr Client n = 10'000;
  for (const char* spec : {"random-matching:rounds=endless", "b-connected:rounds=endless", "erdos-renyi:rounds=endless",
                           "random-regular:rounds=endless", "one-peer-exponential:rounds=endless"}) {
    const auto graph = make_graph(spec, n, WeightRule::sender);
    for (const Client u : {0, 1, 4'999, 9'998, 9'999}) {
      for (const Arc& arc : graph->links(u, 77).out) {
        const std::vector<Arc> in = graph->links(arc.peer, 77).in;
        EXPECT_NE(std::find(in.begin(), in.end(), Arc{u, arc.weight}), in.end()) << spec << ' ' << u;
      }
    }
  }
}

}  // namespace starling::random_graphs_test
