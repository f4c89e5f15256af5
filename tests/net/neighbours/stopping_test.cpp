#include "net/ring.hpp"

namespace starling {
namespace {

TEST(Stopping, ASignalToOneRankStopsAllAfterOneRound) {
  testing_support::expect_a_signal_stops_all_after_one_round(ExchangeWay::messages);
}

}  // namespace
}  // namespace starling
