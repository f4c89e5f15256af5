#include <gmock/gmock.h>

#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_failure_test {

using testing::HasSubstr;
using testing_support::world;

/// Client u's contribution throws in its eighth round: on its rank the run ends with its message, elsewhere silently.
void expect_end(Client clients, Client failing) {
  Root root(world(), Layout(clients, world().size()));
  const Released<Vector> own(declare_public(Vector(20'000, 1.0)));
  Round t = 0;
  const auto contribution = [&](std::size_t k) -> const Released<Vector>& {
    check<DataError>(t < 7 || root.first() + static_cast<Client>(k) != failing, "row 17 is bad");
    return own;
  };
  try {
    for (; t < 1'000'000; ++t) {
      static_cast<void>(root.begin_round(t));
      Released<Vector> total = root.sum(20'000, contribution);
      if (!root.aggregates()) total.update([](Vector& v) { v.assign(20'000, 0.0); });
      root.broadcast(total);
    }
    ADD_FAILURE() << "went on without the failed client";
  } catch (const PeerError& error) {
    EXPECT_NE(world().rank(), Layout(clients, world().size()).rank_of(failing));
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_THAT(error.what(), HasSubstr("row 17 is bad"));
  } catch (const DataError& error) {
    EXPECT_EQ(world().rank(), Layout(clients, world().size()).rank_of(failing));
    EXPECT_TRUE(world().announce(error.code(), error.what()));
  }
  // Elsewhere the news may overtake the aggregate of the round before.
  EXPECT_GE(t, 6);
  EXPECT_LE(t, 7);
}

// One failure per program: that of rank 0's own client, of the last one, and of one among ranks without clients.
TEST(RootFailure, OfAContributionReachesAllRanks) {
  const int ranks = world().size();
  expect_end(5, ranks == 2 ? 0 : ranks == 4 ? 4 : 2);
}

}  // namespace starling::root_failure_test
