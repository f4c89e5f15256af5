#include "graph/parents.hpp"

#include "graph/graph.hpp"
#include "support/testing.hpp"

namespace starling::parents_test {

// Client u hears u - 1. Clients 2 to 4 join one after the other, each from the one before.
TEST(Parents, AreTheInNeighboursThatHaveModels) {
  const auto ring = make_graph("directed-ring", 5, WeightRule::sender);
  EXPECT_EQ(parents_of(*ring, {2, 3, 4}, 100), (std::vector<Parentage>{{2, {1}}, {3, {2}}, {4, {3}}}));
  const auto complete = make_graph("complete", 4, WeightRule::sender);
  EXPECT_EQ(parents_of(*complete, {2, 3}, 7), (std::vector<Parentage>{{2, {0, 1}}, {3, {0, 1}}}));
  EXPECT_TRUE(parents_of(*complete, {}, 7).empty());
}

// A client hears one other in each exchange: the parent is that of the first exchange with somebody who has a model.
TEST(Parents, AreThoseOfTheFirstExchangeThatHasAny) {
  const auto graph = make_graph("one-peer-exponential", 8, WeightRule::sender);
  for (const Round from : {0, 1, 2}) {
    Round t = from;
    while (graph->links(7, t).in.front().peer >= 6) ++t;
    for (const Parentage& each : parents_of(*graph, {6, 7}, from)) {
      if (each.client == 7) {
        EXPECT_EQ(each.parents, (std::vector<Client>{graph->links(7, t).in.front().peer}));
      }
    }
  }
}

TEST(Parents, MustBeSomebody) {
  const auto ring = make_graph("directed-ring", 3, WeightRule::sender);
  EXPECT_THROW(static_cast<void>(parents_of(*ring, {0, 1, 2}, 0)), FailureError);
}

}  // namespace starling::parents_test
