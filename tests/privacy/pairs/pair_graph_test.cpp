#include "privacy/pairs/pair_graph.hpp"

#include <algorithm>
#include <numeric>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::pair_graph_test {

using namespace testing_support;

using Pairs = std::vector<PairGraph::Pair>;

void expect_simple(const PairGraph& graph) {
  for (Client u = 0; u < graph.clients(); ++u) {
    const auto& partners = graph.partners(u);
    EXPECT_TRUE(std::ranges::is_sorted(partners, std::less_equal())) << "repeats of client " << u;
    for (const Client v : partners) {
      EXPECT_NE(v, u);
      EXPECT_TRUE(std::ranges::binary_search(graph.partners(v), u)) << u << " and " << v;
    }
  }
}

TEST(PairGraph, PairsAll) {
  const PairGraph graph = PairGraph::all(5);
  expect_simple(graph);
  EXPECT_TRUE(graph.complete());
  EXPECT_EQ(graph.pairs(), 10);
  EXPECT_EQ(graph.square_degrees(), 80);
  EXPECT_ERROR(UsageError, "Take pairs of neighbours", PairGraph::all(PairGraph::most_clients_of_all + 1));
}

TEST(PairGraph, LeavesOutLoopsAndRepeats) {
  const PairGraph graph = PairGraph::of(4, Pairs{{0, 1}, {1, 0}, {2, 2}, {1, 2}, {0, 1}});
  expect_simple(graph);
  EXPECT_THAT(graph.partners(1), ElementsAre(0, 2));
  EXPECT_EQ(graph.pairs(), 2);
  EXPECT_EQ(graph.least_degree(), 0U);
  EXPECT_FALSE(graph.complete());
  EXPECT_ERROR(UsageError, "there are 4", PairGraph::of(4, Pairs{{0, 4}}));
}

TEST(PairGraph, IsFilledByMatchingsOfAPublicSeed) {
  Pairs ring;
  for (Client u = 0; u < 101; ++u) ring.emplace_back(u, (u + 1) % 101);
  const PairGraph graph = PairGraph::of(101, ring).filled(18, 7);
  expect_simple(graph);
  EXPECT_GE(graph.least_degree(), 18U);
  EXPECT_LE(graph.most_degree(), 30U);
  for (const auto& [u, v] : ring) EXPECT_TRUE(std::ranges::binary_search(graph.partners(u), v));
  EXPECT_EQ(graph.digest(), PairGraph::of(101, ring).filled(18, 7).digest());
  EXPECT_NE(graph.digest(), PairGraph::of(101, ring).filled(18, 8).digest());
  EXPECT_TRUE(PairGraph::of(10, {}).filled(18, 7).complete());
  EXPECT_TRUE(PairGraph::of(10, {}).filled(9, 7).complete());
}

TEST(PairGraph, HasPartsAndOtherNumbers) {
  const PairGraph graph = PairGraph::of(5, Pairs{{0, 1}, {1, 3}, {3, 4}, {2, 4}});
  const PairGraph part = graph.among({1, 3, 4});
  EXPECT_EQ(part.digest(), PairGraph::of(3, Pairs{{0, 1}, {1, 2}}).digest());
  EXPECT_EQ(part.numbered({1, 3, 4}, 5).digest(), PairGraph::of(5, Pairs{{1, 3}, {3, 4}}).digest());
  EXPECT_TRUE(PairGraph::all(6).among({0, 2, 5}).complete());
}

TEST(PairGraph, HasADigestOfItsPairs) {
  EXPECT_EQ(PairGraph::of(4, Pairs{{0, 1}, {2, 3}}).digest(), PairGraph::of(4, Pairs{{3, 2}, {1, 0}}).digest());
  EXPECT_NE(PairGraph::of(4, Pairs{{0, 1}}).digest(), PairGraph::of(5, Pairs{{0, 1}}).digest());
  EXPECT_NE(PairGraph::of(4, Pairs{{0, 1}}).digest(), PairGraph::of(4, Pairs{{0, 2}}).digest());
}

}  // namespace starling::pair_graph_test
