#include "privacy/pairs/pair_price.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/check.hpp"
#include "core/random.hpp"
#include "plain_matrix.hpp"
#include "support/testing.hpp"

namespace starling::pair_price_test {

using namespace testing_support;

/// Each pair is there with probability `density`.
PairGraph random_graph(Client clients, double density, std::uint64_t seed) {
  AddressedRandom random(seed, Purpose::experiment, 0, 0);
  std::vector<PairGraph::Pair> pairs;
  for (Client u = 0; u < clients; ++u) {
    for (Client v = 0; v < u; ++v) {
      if (random.uniform() < density) pairs.emplace_back(u, v);
    }
  }
  return PairGraph::of(clients, pairs);
}

/// [(I + r² L)⁻¹]_uu by conjugate gradients.
double exposure_of(const PairGraph& graph, double ratio, Client u) {
  const auto n = static_cast<std::size_t>(graph.clients());
  const auto multiply = [&](const std::vector<double>& x) {
    std::vector<double> result = x;
    for (std::size_t v = 0; v < n; ++v) {
      for (const Client w : graph.partners(static_cast<Client>(v))) {
        result[v] += ratio * ratio * (x[v] - x[static_cast<std::size_t>(w)]);
      }
    }
    return result;
  };
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  std::vector<double> x(n, 0);
  std::vector<double> residual(n, 0);
  residual[static_cast<std::size_t>(u)] = 1;
  std::vector<double> direction = residual;
  for (int step = 0; step < 150; ++step) {
    const double before = dot(residual, residual);
    if (before < 1e-28) break;
    const std::vector<double> image = multiply(direction);
    const double length = before / dot(direction, image);
    for (std::size_t v = 0; v < n; ++v) {
      x[v] += length * direction[v];
      residual[v] -= length * image[v];
    }
    const double share = dot(residual, residual) / before;
    for (std::size_t v = 0; v < n; ++v) direction[v] = residual[v] + share * direction[v];
  }
  return x[static_cast<std::size_t>(u)];
}

/// The exposure is an upper bound, and no more than a share of 2·10^-6 above.
void expect_exact(double bound, double exact) {
  EXPECT_GE(bound, exact * (1 - 1e-12));
  EXPECT_LE(bound, exact * (1 + 2e-6));
}

TEST(PairPrice, IsExactForCompleteGraphs) {
  for (const double ratio : {0.5, 1.0, 4.0}) {
    for (Client colluding = 0; colluding <= 3; ++colluding) {
      const PairGraph graph = PairGraph::all(7);
      expect_exact(exposure(graph, ratio, colluding), enumerated_exposure(graph, ratio, colluding));
    }
    EXPECT_EQ(exposure(PairGraph::all(7), ratio, 6), 1);
    EXPECT_EQ(exposure(PairGraph::all(2), ratio, 1), 1);
    EXPECT_EQ(exposure(PairGraph::all(1), ratio, 0), 1);
  }
}

TEST(PairPrice, IsExactForOneColludingClientOfSmallGraphs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const PairGraph graph = random_graph(11, 0.35, seed);
    for (const double ratio : {0.75, 3.0}) {
      for (const Client colluding : {0, 1}) {
        expect_exact(exposure(graph, ratio, colluding), enumerated_exposure(graph, ratio, colluding));
      }
    }
  }
}

/// As large as one colluding client is worked out exactly.
TEST(PairPrice, IsExactForHundredsOfClients) {
  const PairGraph graph = PairGraph::of(300, {}).filled(18, 3);
  double least = 0;
  for (Client u = 0; u < 300; u += 20) least = std::max(least, exposure_of(graph, 5, u));
  EXPECT_GE(exposure(graph, 5, 0), least);
  EXPECT_LE(exposure(graph, 5, 0), 1.1 * least);
  EXPECT_GT(exposure(graph, 5, 1), exposure(graph, 5, 0));
  EXPECT_LT(exposure(graph, 5, 1), 1.2 * least) << "one client of 18 partners hides little";
}

TEST(PairPrice, IsExactForSeveralColludingClientsOfSmallGraphs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const PairGraph graph = random_graph(12, seed % 2 == 0 ? 0.4 : 0.7, seed);
    for (const double ratio : {0.75, 3.0}) {
      for (const Client colluding : {2, 3}) {
        expect_exact(exposure(graph, ratio, colluding), enumerated_exposure(graph, ratio, colluding));
      }
    }
  }
}

TEST(PairPrice, IsABoundForMoreColludingClients) {
  const PairGraph graph = random_graph(120, 0.2, 3);
  const double bound = exposure(graph, 2, 2);
  EXPECT_GE(bound, exposure(graph, 2, 1));
  EXPECT_LE(bound, 4 * exposure(graph, 2, 1)) << "a bound of 1 would be none";
}

TEST(PairPrice, IsABoundForLargeGraphs) {
  const PairGraph graph = PairGraph::of(1100, {}).filled(18, 3);
  for (Client u = 0; u < 1100; u += 100) EXPECT_GE(exposure(graph, 4, 0), exposure_of(graph, 4, u));
  EXPECT_GE(exposure(graph, 4, 1), exposure(graph, 4, 0));
  EXPECT_LE(exposure(graph, 4, 1), 1.0 / 80) << "two levels hide more than the 18 partners of a client";
}

TEST(PairPrice, RisesWithCoalitionsAndWithPairsThatAreMissing) {
  const PairGraph graph = PairGraph::all(9);
  std::vector<PairGraph::Pair> fewer;
  for (Client u = 0; u < 9; ++u) {
    for (Client v = 0; v < u; ++v) {
      if (u + v != 5) fewer.emplace_back(u, v);
    }
  }
  for (Client colluding = 0; colluding <= 8; ++colluding) {
    EXPECT_LT(exposure(graph, 2, colluding), exposure(PairGraph::of(9, fewer), 2, colluding) + 1e-12);
    if (colluding > 0) {
      EXPECT_GT(exposure(graph, 2, colluding), exposure(graph, 2, colluding - 1));
    }
  }
}

TEST(PairPrice, IsOneWherePartnersCanAllCollude) {
  const PairGraph path = PairGraph::of(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(exposure(path, 3, 1), 1);
  EXPECT_LT(exposure(path, 3, 0), 0.5);
  EXPECT_EQ(exposure(PairGraph::of(3, {{0, 1}}), 3, 0), 1) << "client 2 has no partner";
}

TEST(PairPrice, TakesTheLeastRatioThatHidesThreeFifthsOfTheClients) {
  for (const Client clients : {3, 16, 64}) {
    const PairGraph graph = PairGraph::all(clients);
    const double wanted = 0.6 * (clients - 1);
    const double ratio = least_ratio(graph, 1);
    EXPECT_GE(1 / exposure(graph, ratio, 1), wanted);
    if (ratio > ratio_step) {
      EXPECT_LT(1 / exposure(graph, ratio - ratio_step, 1), wanted);
    }
  }
  const PairGraph large = PairGraph::of(2000, {}).filled(18, 3);
  const double ratio = least_ratio(large, 1);
  EXPECT_EQ(ratio, largest_ratio) << "a tree of 18 times 17 clients cannot hide 1,200";
  EXPECT_GT(1 / exposure(large, ratio, 1), 100);
}

TEST(PairPrice, KnowsAtOnceHowManyHideEachOtherAtLeast) {
  for (const PairGraph& graph : {PairGraph::all(5), PairGraph::all(64), PairGraph::of(200, {}).filled(18, 3),
                                 PairGraph::of(3, {{0, 1}, {1, 2}})}) {
    const double exact = 1 / exposure(graph, least_ratio(graph, 1), 1);
    EXPECT_LE(least_hiding(graph, 1), exact * (1 + 1e-9));
    EXPECT_GE(least_hiding(graph, 1), exact / 2);
  }
}

TEST(PairPrice, RefusesImpossibleSizes) {
  EXPECT_ERROR(UsageError, "0 times", exposure(PairGraph::all(3), 0, 1));
  EXPECT_ERROR(UsageError, "colluding", exposure(PairGraph::all(3), 1, -1));
}

}  // namespace starling::pair_price_test
