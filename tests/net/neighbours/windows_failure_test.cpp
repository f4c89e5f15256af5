#include "net/ring.hpp"

namespace starling {
namespace {

TEST(WindowFailure, ReachesRanksThatWaitForSomebodyElse) {
  testing_support::expect_a_failure_reaches_all(ExchangeWay::windows, 100);
}

}  // namespace
}  // namespace starling
