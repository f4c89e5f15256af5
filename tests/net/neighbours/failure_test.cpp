#include "net/ring.hpp"

namespace starling {
namespace {

TEST(Failure, ReachesRanksThatWaitForSomebodyElse) {
  testing_support::expect_a_failure_reaches_all(ExchangeWay::messages, 0);
}

}  // namespace
}  // namespace starling
