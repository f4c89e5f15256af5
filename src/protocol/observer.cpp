#include "protocol/observer.hpp"

namespace starling {

ObserverList::ObserverList(const std::vector<Observer*>& observers, Calls calls) : calls_(calls) {
  for (Observer* observer : observers) entries_.push_back({observer, 0});
}

void ObserverList::notify(const RoundView& view) {
  const Round done = view.done();
  for (Entry& entry : entries_) {
    if (done < entry.due) continue;
    entry.observer->after(view);
    if (calls_ == Calls::when_due) entry.due = entry.observer->due();
  }
}

}  // namespace starling
