#include "starling/protocol/watchers.hpp"

namespace starling {

Watchers::Watchers(const std::vector<Observer*>& observers, Calls calls) : calls_(calls) {
  for (Observer* observer : observers) watchers_.push_back({observer, 0});
}

void Watchers::show(const RoundView& view) {
  const Round done = view.done();
  for (Watcher& watcher : watchers_) {
    if (done < watcher.due) continue;
    watcher.observer->after(view);
    if (calls_ == Calls::when_due) watcher.due = watcher.observer->due();
  }
}

}  // namespace starling
