#include "net/ring.hpp"

namespace starling::windows_failure_test {

TEST(WindowFailure, ReachesRanksThatWaitForSomebodyElse) {
  testing_support::expect_a_failure_reaches_all(ExchangeWay::windows, 100);
}

}  // namespace starling::windows_failure_test
