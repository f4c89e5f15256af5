#include "net/ring.hpp"

namespace starling::failure_test {

TEST(Failure, ReachesRanksThatWaitForSomebodyElse) {
  testing_support::expect_a_failure_reaches_all(ExchangeWay::messages, 0);
}

}  // namespace starling::failure_test
