#include "protocol/central_rounds.hpp"

#include "net/root/root.hpp"

namespace starling {

bool CentralRounds::goes_on(Round rounds) {
  if (done_ == rounds || !root_.begin_round(done_)) return false;
  watch_ = Stopwatch::of_round(done_);
  return true;
}

}  // namespace starling
