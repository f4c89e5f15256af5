// The key that ranks compare digests of private data under.
#include "run/inputs/rank_key.hpp"

#include <set>

#include "core/digest.hpp"
#include "net/agreement.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::rank_key_test {

using testing_support::world;

// Collective: all ranks must come to the same key, and the next start to another.
TEST(RankKey, IsTheSameOnAllRanksAndAnotherEachTime) {
  Agreement agreement(world());
  const RankKey key(agreement);
  const RankKey next(agreement);
  const std::string digest = key.digest("content", "0123456789abcdef");
  const auto of_ranks = agreement.all_gather(declare_public(digest));
  EXPECT_EQ(std::set<std::string>(of_ranks.begin(), of_ranks.end()).size(), 1U);
  EXPECT_EQ(digest, key.digest("content", "0123456789abcdef"));
  EXPECT_NE(digest, next.digest("content", "0123456789abcdef"));
  EXPECT_NE(digest, key.digest("content", "0123456789abcdee"));
  EXPECT_NE(digest, key.digest("labels", "0123456789abcdef"));
  EXPECT_EQ(digest.size(), 64U);
}

TEST(RankKey, BringsRankZerosTextsToAll) {
  Agreement agreement(world());
  RankKey key(agreement);
  for (const std::string& text : {std::string("ids of the first table"), std::string(), std::string(1000, '\0')}) {
    EXPECT_EQ(key.broadcast(agreement.rank() == 0 ? text : ""), text);
  }
}

}  // namespace starling::rank_key_test
