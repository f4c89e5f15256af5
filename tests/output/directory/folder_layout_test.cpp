#include "core/check.hpp"
#include "output/directory/private_place.hpp"
#include "support/testing.hpp"

namespace starling::folder_layout_test {

using namespace testing_support;

using Firsts = std::vector<Client>;

/// First clients of the ranks.
Firsts firsts(const Layout& before, const std::vector<int>& gone, Client clients,
              const std::vector<RanksOfPlace>& places) {
  return layout_of_folders(before, gone, clients, places).blocks();
}

TEST(FolderLayout, LeavesClientsWhereTheyAre) {
  const Layout before(9, 3);
  EXPECT_EQ(firsts(before, {}, 9, {{1, "a", {0}}, {1, "b", {1}}, {1, "c", {2}}}), (Firsts{0, 3, 6}));
  EXPECT_EQ(firsts(before, {}, 9, {{2, "a", {0}}, {1, "b", {1, 2}}}), (Firsts{0, 2, 3}));
  EXPECT_EQ(firsts(before, {}, 9, {{1, "a", {0, 1}}, {3, "b", {2}}}), (Firsts{0, 6, 7, 8}));
  // A host has folders that do not follow one another, and ranks on either side.
  EXPECT_EQ(firsts(before, {}, 9, {{1, "a", {0, 2}}, {1, "b", {1}}, {1, "a", {0, 2}}}), (Firsts{0, 3, 6}));
  // Two hosts have a copy each.
  EXPECT_EQ(firsts(before, {}, 9, {{1, "a", {0, 1}}, {1, "b", {1, 2}}}), (Firsts{0, 6}));
}

TEST(FolderLayout, KeepsClientsOfGoneFoldersWithTheirNeighbours) {
  const Layout before(9, 3);
  EXPECT_EQ(firsts(before, {1}, 9, {{1, "a", {0}}, {1, "c", {2}}}), (Firsts{0, 3}));
  EXPECT_EQ(firsts(before, {0}, 9, {{1, "b", {1}}, {1, "c", {2}}}), (Firsts{0, 6}));
  EXPECT_EQ(firsts(before, {2}, 9, {{1, "a", {0}}, {2, "b", {1, 2}}}), (Firsts{0, 3, 6}));
}

TEST(FolderLayout, GivesNewClientsToRanksBehindTheOthers) {
  const Layout before(4, 2);
  EXPECT_EQ(firsts(before, {}, 6, {{1, "a", {0}}, {1, "b", {1}}}), (Firsts{0, 2}));
  EXPECT_EQ(firsts(before, {}, 6, {{1, "a", {0}}, {1, "b", {1}}, {1, "c", {}}}), (Firsts{0, 2, 4}));
  EXPECT_EQ(firsts(before, {}, 6, {{1, "a", {0}}, {2, "b", {1}}}), (Firsts{0, 2, 4}));
  EXPECT_EQ(firsts(before, {}, 7, {{1, "a", {0}}, {1, "b", {1}}, {1, "a", {0}}, {2, "d", {}}}),
            (Firsts{0, 2, 4, 5, 6}));
  // Once more: blocks are not even any more.
  const Layout later = Layout::of_blocks({0, 2, 4, 7});
  EXPECT_EQ(firsts(later, {}, 8, {{1, "a", {0}}, {1, "b", {1}}, {1, "c", {2}}}), (Firsts{0, 2, 4}));
}

TEST(FolderLayout, LetsNobodyMoveToAnotherHost) {
  const Layout before(4, 2);
  const auto refused = [&](Client clients, const std::vector<RanksOfPlace>& places) {
    return message_of<UsageError>([&] { return layout_of_folders(before, {}, clients, places); });
  };
  EXPECT_THAT(refused(4, {{1, "b", {1}}, {1, "a", {0}}}),
              HasSubstr("no rank from those on a on sees the private folder of "
                        "clients 2 to 3"));
  EXPECT_THAT(refused(4, {{1, "a", {0}}, {1, "b", {1}}, {1, "c", {}}}), HasSubstr("rank 2 is on c"));
  EXPECT_THAT(refused(6, {{1, "a", {0}}, {2, "c", {}}, {1, "b", {1}}}), HasSubstr("rank 1 is on c"));
  EXPECT_NE(refused(4, {{1, "a", {0}}}), "");
}

}  // namespace starling::folder_layout_test
