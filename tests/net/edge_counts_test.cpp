// Counts of edges against a map of all of them.
#include "net/edge_counts.hpp"

#include <map>

#include "core/random.hpp"
#include "support/testing.hpp"

namespace starling::edge_counts_test {

using Edge = EdgeCounts::Edge;

std::map<Edge, std::int64_t> as_map(const EdgeCounts& counts) {
  std::map<Edge, std::int64_t> result;
  for (const EdgeTraffic& edge : counts.list(8)) {
    EXPECT_EQ(edge.bytes, 8 * edge.messages);
    EXPECT_TRUE(result.emplace(Edge{edge.from, edge.to}, edge.messages).second) << "listed twice";
  }
  return result;
}

TEST(EdgeCounts, AreThoseOfAMapWhateverTheOrder) {
  AddressedRandom random(3, Purpose::experiment, 0, 0);
  EdgeCounts counts;
  std::map<Edge, std::int64_t> expected;
  for (int plan = 0; plan < 40; ++plan) {
    std::vector<Edge> edges;
    for (int i = 0; i < plan; ++i) {
      edges.emplace_back(static_cast<Client>(random() % 11), static_cast<Client>(random() % 13));
    }
    const auto messages = static_cast<std::int64_t>(random() % 5);
    counts.add(edges, messages);
    for (const Edge& edge : edges) {
      if (messages > 0) expected[edge] += messages;
    }
  }
  EXPECT_EQ(as_map(counts), expected);
  const auto list = counts.list(8);
  for (std::size_t i = 1; i < list.size(); ++i) {
    EXPECT_LT((Edge{list[i - 1].from, list[i - 1].to}), (Edge{list[i].from, list[i].to}));
  }
}

// Few new ones each time beside many that are known, some of which come again before they are merged; and a snapshot in
// between.
TEST(EdgeCounts, AreThoseOfAMapWhereEachPlanBringsNewEdges) {
  AddressedRandom random(4, Purpose::experiment, 0, 0);
  EdgeCounts counts;
  std::map<Edge, std::int64_t> expected;
  const auto add = [&](std::size_t edges, std::int64_t messages) {
    std::vector<Edge> some;
    for (std::size_t i = 0; i < edges; ++i) {
      some.emplace_back(static_cast<Client>(random() % 50), static_cast<Client>(random() % 60));
    }
    counts.add(some, messages);
    for (const Edge& edge : some) expected[edge] += messages;
  };
  add(800, 2);
  for (int plan = 0; plan < 300; ++plan) {
    add(7, 1 + plan % 3);
    if (plan % 50 == 20) {
      EXPECT_EQ(as_map(counts), expected) << plan;
    }
    if (plan == 33) {
      Snapshot writing;
      writing(counts);
      add(9, 1);  // is not forgotten where the snapshot has been written
      ASSERT_EQ(as_map(counts), expected);
    }
  }
  EXPECT_EQ(as_map(counts), expected);
}

// Those that came last count among the most.
TEST(EdgeCounts, CountBeyondTheMostTogetherThoughTheyComeOneByOne) {
  EdgeCounts counts;
  std::vector<Edge> edges;
  const auto most = static_cast<Client>(EdgeCounts::most_edges);
  for (Client i = 0; i < most - 2; ++i) edges.emplace_back(1, i);
  counts.add(edges, 1);
  for (const Client from : {0, 2, 3, 2, 0, 4}) counts.add({{from, 5}}, 1);
  const auto list = counts.list(1);
  ASSERT_EQ(list.size(), EdgeCounts::most_edges + 1);
  EXPECT_EQ(list.front().from, 0);
  EXPECT_EQ(list.front().messages, 2);
  EXPECT_EQ(list[list.size() - 2].from, 2);
  EXPECT_EQ(list[list.size() - 2].messages, 2);
  EXPECT_EQ(list.back().messages, 2);
}

TEST(EdgeCounts, CountBeyondTheMostTogether) {
  EdgeCounts counts;
  std::vector<Edge> edges;
  const auto most = static_cast<Client>(EdgeCounts::most_edges);
  for (Client i = 0; i < most + 10; ++i) edges.emplace_back(0, i);
  counts.add(edges, 3);
  counts.add({{0, 1}, {0, most + 11}}, 2);
  const auto list = counts.list(1);
  ASSERT_EQ(list.size(), EdgeCounts::most_edges + 1);
  EXPECT_EQ(list.back().from, -1);
  EXPECT_EQ(list.back().to, -1);
  EXPECT_EQ(list.back().messages, 3 * 10 + 2);
  EXPECT_EQ(list[1].messages, 5);
}

TEST(EdgeCounts, OfSomeSendersLeaveTheOthersTogether) {
  EdgeCounts counts;
  counts.only_of({7, 2});
  EXPECT_TRUE(counts.counts(2));
  EXPECT_TRUE(counts.counts(7));
  EXPECT_FALSE(counts.counts(3));
  counts.add({{2, 3}}, 4, 4 * 8);
  EXPECT_EQ(as_map(counts), (std::map<Edge, std::int64_t>{{{2, 3}, 4}, {{-1, -1}, 32}}));
}

TEST(EdgeCounts, AreTheSameFromASnapshot) {
  EdgeCounts counts;
  counts.add({{4, 1}, {0, 9}}, 2, 5);
  Snapshot writing;
  writing(counts);
  Snapshot reading(writing.content());
  EdgeCounts again;
  reading(again);
  reading.require_end();
  EXPECT_EQ(as_map(again), as_map(counts));
  again.add({{0, 9}}, 1);
  EXPECT_EQ(as_map(again).at({0, 9}), 3);
}

}  // namespace starling::edge_counts_test
