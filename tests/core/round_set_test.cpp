// Sets of rounds against lists of them.
#include "core/round_set.hpp"

#include "support/testing.hpp"

namespace starling::round_set_test {

std::vector<Round> list_of(const RoundSet& set) {
  std::vector<Round> rounds;
  set.for_each([&](Round t) { rounds.push_back(t); });
  return rounds;
}

TEST(RoundSet, HoldsWhatWasAdded) {
  const std::vector<Round> rounds{0, 1, 2, 5, 7, 8, 100};
  RoundSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.end(), 0);
  for (const Round t : rounds) set.add(t);
  EXPECT_EQ(list_of(set), rounds);
  EXPECT_EQ(set.size(), 7);
  EXPECT_EQ(set.end(), 101);
  EXPECT_FALSE(set.empty());
}

TEST(RoundSet, CountsWhatIsBefore) {
  RoundSet set;
  for (const Round t : {0, 1, 2, 5, 7, 8}) set.add(t);
  const std::vector<Round> expected{0, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6};
  for (std::size_t t = 0; t < expected.size(); ++t) EXPECT_EQ(set.before(static_cast<Round>(t)), expected[t]) << t;
}

TEST(RoundSet, TheFirstRoundsAreOneSpan) {
  RoundSet added;
  for (Round t = 0; t < 50; ++t) added.add(t);
  EXPECT_EQ(RoundSet::first(50), added);
  EXPECT_EQ(RoundSet::first(0), RoundSet());
}

}  // namespace starling::round_set_test
