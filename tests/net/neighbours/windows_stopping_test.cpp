#include "net/ring.hpp"

namespace starling {
namespace {

TEST(WindowStopping, ASignalToOneRankStopsAllAfterOneRound) {
  testing_support::expect_a_signal_stops_all_after_one_round(ExchangeWay::windows);
}

}  // namespace
}  // namespace starling
