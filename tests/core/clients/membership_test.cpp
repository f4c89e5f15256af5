#include "core/clients/membership.hpp"

#include "support/testing.hpp"

namespace starling::membership_test {

using testing_support::message_of;

TEST(Membership, NamesClientsByNumbersAndRanges) {
  EXPECT_EQ(parse_clients("7,3,4-6,3", 10), (std::vector<Client>{3, 4, 5, 6, 7}));
  for (const char* list : {"3-7", "0", "1,2", "1,3-5,9"}) EXPECT_EQ(list_of_clients(parse_clients(list, 10)), list);
  for (const char* bad : {"", "10", "-1", "3,", "5-4", "3-10", "a", "1e9", "1--2"}) {
    EXPECT_NE(message_of([&] { return parse_clients(bad, 10); }), "") << bad;
  }
}

TEST(Membership, NeverFindsLostClientsAgain) {
  Membership members(10);
  EXPECT_FALSE(members.has_changed());
  members.lose(200, {3, 7});
  members.lose(300, {5});
  EXPECT_EQ(members.lost(), (std::vector<Client>{3, 5, 7}));
  EXPECT_EQ(members.present(), (std::vector<Client>{0, 1, 2, 4, 6, 8, 9}));
  EXPECT_TRUE(members.is_lost(5));
  EXPECT_FALSE(members.is_lost(4));
  EXPECT_EQ(members.changes().back().round, 300);
  EXPECT_NE(message_of([&] { members.lose(400, {7}); }), "");
}

TEST(Membership, NumbersClientsThatJoinAfterAllOthers) {
  using Kind = Membership::Change::Kind;
  Membership members(2);
  members.join(100, 2, "new-{client}.csv");
  members.lose(200, {1, 2});
  members.join(300, 1, "other.csv");
  EXPECT_EQ(members.at_first(), 2);
  EXPECT_EQ(members.clients(), 5);
  EXPECT_EQ(members.present(), (std::vector<Client>{0, 3, 4}));
  EXPECT_EQ(members.joined_with(1), nullptr);
  EXPECT_EQ(members.joined_with(3)->round, 100);
  EXPECT_EQ(members.joined_with(4)->source, "other.csv");
  ASSERT_EQ(members.changes(Kind::join).size(), 2);
  EXPECT_EQ(members.changes(Kind::join).front().clients, (std::vector<Client>{2, 3}));
  EXPECT_EQ(members.changes(Kind::loss).front().clients, (std::vector<Client>{1, 2}));
  EXPECT_TRUE(members.any_joined());
  EXPECT_EQ(members.changes().size(), 3);
}

}  // namespace starling::membership_test
