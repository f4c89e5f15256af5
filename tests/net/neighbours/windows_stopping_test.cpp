#include "net/ring.hpp"

namespace starling::windows_stopping_test {

TEST(WindowStopping, ASignalToOneRankStopsAllAfterOneRound) {
  testing_support::expect_a_signal_stops_all_after_one_round(ExchangeWay::windows);
}

}  // namespace starling::windows_stopping_test
