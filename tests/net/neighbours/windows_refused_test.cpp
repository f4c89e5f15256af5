#include <sys/resource.h>

#include "net/neighbours/neighbours.hpp"
#include "support/mpi_testing.hpp"
#include "support/sanitized.hpp"
#include "support/testing.hpp"

namespace starling::windows_refused_test {

using namespace testing_support;

// Who asks for windows gets them or an error: that of the rank that has no memory to share, while the others end with
// it.
TEST(Windows, ThatAreAskedForAndCannotBeAreAnErrorOnAllRanks) {
  if (testing_support::sanitized) GTEST_SKIP() << "sanitizers open files to look, of which there are none here";
  const bool last = world().rank() == world().size() - 1;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  if (last) setrlimit(RLIMIT_NOFILE, &none);
  const auto open = [] { Neighbours(world(), Layout(world().size(), world().size()), 4, ExchangeWay::windows); };
  std::string message;
  bool is_peers = false;
  try {
    open();
  } catch (const PeerError& error) {
    is_peers = true;
    message = error.what();
    EXPECT_EQ(error.code(), ExitCode::failure);
  } catch (const FailureError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_NE(is_peers, world().rank() == 0) << "one rank speaks";
  if (is_peers) {
    EXPECT_THAT(message, HasSubstr("rank 0"));
  } else {
    EXPECT_THAT(message, AllOf(HasSubstr(fmt::format("rank {}: the system gives no shared memory (Too many open files)",
                                                     world().size() - 1)),
                               HasSubstr("--exchange messages")));
  }
}

}  // namespace starling::windows_refused_test
