#include "starling/protocol/aggregated_rounds.hpp"

#include <algorithm>

namespace starling {

AggregatedRounds::AggregatedRounds(Root& root, AggregatedClients& clients, const Released<Vector>& start)
    : root_(root), theta_(start), members_(clients), ones_(clients.count(), 1.0), played_(clients.count()) {}

Released<Columns> AggregatedRounds::models() const {
  return post_process(
      [this](const Vector& theta) {
        Columns models(theta.size(), members_.count());
        for (std::size_t k = 0; k < models.size(); ++k) std::copy(theta.begin(), theta.end(), models[k].begin());
        return models;
      },
      theta_);
}

void AggregatedRounds::completed() {
  ++done_;
  watch_.lap(shares_.exchange);
  show();
  watch_.lap(shares_.observing);
}

void AggregatedRounds::begin(const std::vector<Observer*>& observers) {
  watchers_.clear();
  for (Observer* observer : observers) watchers_.push_back({observer, 0});
  if (done_ == 0) show();
}

void AggregatedRounds::show() {
  for (Watcher& watcher : watchers_) {
    if (done_ < watcher.due) continue;
    watcher.observer->after(*this);
    watcher.due = watcher.observer->due();
  }
}

}  // namespace starling
