#include "core/links.hpp"
#include "support/testing.hpp"

namespace starling::layout_test {

class AnyLayout : public testing::TestWithParam<Client> {};

// Every number of ranks up to 40, more ranks than clients included.
TEST_P(AnyLayout, GivesEachRankOneBlockAndEachClientOneRank) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    const Layout layout(GetParam(), ranks);
    EXPECT_EQ(layout.first(0), 0);
    EXPECT_EQ(layout.first(ranks), GetParam());
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_GE(layout.count(rank), 0) << rank << " of " << ranks;
      for (Client u = layout.first(rank); u < layout.first(rank) + layout.count(rank); ++u) {
        EXPECT_EQ(layout.rank_of(u), rank) << u << " on " << ranks;
        EXPECT_EQ(layout.rank_of(u), u * ranks / GetParam()) << u << " on " << ranks;
      }
    }
  }
}

TEST_P(AnyLayout, SharesEvenly) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    const Layout layout(GetParam(), ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(std::abs(layout.count(rank) * ranks - GetParam()), ranks - 1) << rank << " of " << ranks;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clients, AnyLayout, testing::Range(Client{1}, Client{41}));

// u·R does not fit 32 bits here.
TEST(Layout, HoldsForAMillionClientsOnTenThousandRanks) {
  const Layout layout(1000003, 10007);
  EXPECT_EQ(layout.rank_of(1000002), 10006);
  for (const int rank : {0, 1, 5000, 10005, 10006}) {
    EXPECT_EQ(layout.rank_of(layout.first(rank)), rank);
    EXPECT_EQ(layout.rank_of(layout.first(rank + 1) - 1), rank);
  }
}

TEST(Layout, GivesACentreARankOfItsOwnAndTheOthersTheRest) {
  for (Client others = 1; others < 20; ++others) {
    for (int ranks = 2; ranks < 25; ++ranks) {
      const Layout layout = Layout::with_centre(others, ranks);
      const Layout rest(others, ranks - 1);
      ASSERT_EQ(layout.clients(), others + 1);
      ASSERT_EQ(layout.rank_of(0), 0);
      ASSERT_EQ(layout.first(0), 0);
      ASSERT_EQ(layout.count(0), 1);
      ASSERT_EQ(layout.first(ranks), others + 1);
      for (Client u = 1; u <= others; ++u) {
        ASSERT_EQ(layout.rank_of(u), 1 + rest.rank_of(u - 1));
        ASSERT_GE(u, layout.first(layout.rank_of(u)));
        ASSERT_LT(u, layout.first(layout.rank_of(u) + 1));
      }
    }
  }
}

TEST(Layout, KeepsACentreAndTheOthersTogetherOnOneRank) {
  const Layout layout = Layout::with_centre(4, 1);
  EXPECT_EQ(layout.clients(), 5);
  EXPECT_EQ(layout.count(0), 5);
  EXPECT_EQ(layout.rank_of(4), 0);
}

TEST(Layout, HasTheBlocksThatItWasGiven) {
  const Layout layout = Layout::of_blocks({0, 0, 3, 3, 4, 9, 9});
  EXPECT_EQ(layout.clients(), 9);
  EXPECT_EQ(layout.ranks(), 6);
  EXPECT_EQ(layout.blocks(), (std::vector<Client>{0, 0, 3, 3, 4, 9}));
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(layout.count(rank), (std::vector<Client>{0, 3, 0, 1, 5, 0})[static_cast<std::size_t>(rank)]);
    for (Client u = layout.first(rank); u < layout.first(rank + 1); ++u) EXPECT_EQ(layout.rank_of(u), rank) << u;
  }
  EXPECT_TRUE(layout.on(3).blocks().empty());
  EXPECT_EQ(layout.on(3).count(0), 3);
}

}  // namespace starling::layout_test
