#include "net/ring.hpp"

namespace starling::stopping_test {

TEST(Stopping, ASignalToOneRankStopsAllAfterOneRound) {
  testing_support::expect_a_signal_stops_all_after_one_round(ExchangeWay::messages);
}

}  // namespace starling::stopping_test
