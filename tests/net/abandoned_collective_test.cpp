#include <chrono>
#include <gmock/gmock.h>
#include <thread>
#include <vector>

#include "net/agreement.hpp"
#include "net/world.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::abandoned_collective_test {

using testing::Each;
using testing::ElementsAre;
using testing_support::world;

// Rank 1 fails, and rank 0 leaves a collective before rank 2 sends its part. That part must not get into memory that
// rank 0 has used for something else since then.
TEST(AbandonedCollective, WritesToNoMemoryOfOthers) {
  std::vector<std::vector<int>> others;
  {
    World failing;
    const auto gather = [&] {
      return Agreement(failing).all_gather(declare_public(std::vector<std::int64_t>{1, 2, 3}));
    };
    if (failing.rank() == 1) {
      failing.announce(ExitCode::failure, "first");
    } else {
      if (failing.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      EXPECT_THROW(gather(), PeerError);
      others.assign(1000, std::vector<int>(3, 77));
    }
  }
  Agreement(world()).barrier();  // rank 0 waits for rank 2, and MPI takes what comes
  EXPECT_THAT(others, Each(ElementsAre(77, 77, 77)));
}

}  // namespace starling::abandoned_collective_test
