/// The observers of a run, each called when it is due.
#pragma once

#include <vector>

#include "protocol/observer.hpp"

namespace starling {

/// A list of observers. Call notify() before the first round and after each.
class ObserverList {
 public:
  enum class Calls {
    every_round,  ///< participants of a round, or the number of rounds completed at once, may change
    when_due      ///< all rounds are in step and complete, so that Observer::due() holds
  };

  /// An empty list.
  ObserverList() = default;
  ObserverList(const std::vector<Observer*>& observers, Calls calls);

  /// Calls the observers that are due.
  void notify(const RoundView& view);

 private:
  struct Entry {
    Observer* observer;
    Round due;  ///< first round after which it is called
  };
  Calls calls_ = Calls::every_round;
  std::vector<Entry> entries_;
};

}  // namespace starling
