#include "starling/core/lost_clients.hpp"

#include "support/testing.hpp"

#include "starling/core/check.hpp"

namespace starling {
namespace {

using testing_support::message_of;

TEST(LostClients, AreNamedByNumbersAndRanges) {
  EXPECT_EQ(parse_clients("7,3,4-6,3", 10), (std::vector<Client>{3, 4, 5, 6, 7}));
  for (const char* list : {"3-7", "0", "1,2", "1,3-5,9"}) EXPECT_EQ(list_of_clients(parse_clients(list, 10)), list);
  for (const char* bad : {"", "10", "-1", "3,", "5-4", "3-10", "a", "1e9", "1--2"}) {
    EXPECT_NE(message_of([&] { static_cast<void>(parse_clients(bad, 10)); }), "") << bad;
  }
}

TEST(LostClients, StayLost) {
  LostClients lost;
  EXPECT_FALSE(lost.any());
  lost.add(200, {3, 7});
  lost.add(300, {5});
  EXPECT_EQ(lost.all(), (std::vector<Client>{3, 5, 7}));
  EXPECT_EQ(lost.count(), 3);
  EXPECT_TRUE(lost.has(5));
  EXPECT_FALSE(lost.has(4));
  EXPECT_EQ(lost.losses().back().round, 300);
  EXPECT_NE(message_of([&] { lost.add(400, {7}); }), "");
}

}  // namespace
}  // namespace starling
