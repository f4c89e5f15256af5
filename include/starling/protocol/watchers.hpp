/// The observers of a run, each called when it wants to be.
#pragma once

#include <vector>

#include "starling/protocol/observer.hpp"

namespace starling {

class Watchers {
 public:
  enum class Calls {
    every_round,  ///< who takes part in a round, or how many are completed at once, may change
    when_due      ///< what Observer::due() asks for holds
  };

  /// Nobody.
  Watchers() = default;
  Watchers(const std::vector<Observer*>& observers, Calls calls);

  /// After a round, or before the first: calls those that are due.
  void show(const RoundView& view);

 private:
  struct Watcher {
    Observer* observer;
    Round due;  ///< it does not look before this round
  };
  Calls calls_ = Calls::every_round;
  std::vector<Watcher> watchers_;
};

}  // namespace starling
