#include "starling/protocol/aggregated/aggregated_rounds.hpp"

namespace starling {

AggregatedRounds::AggregatedRounds(Root& root, AggregatedClients& clients, const Released<Vector>& start)
    : root_(root), theta_(start), members_(clients), ones_(clients.count(), 1.0), played_(clients.count()) {}

Released<Columns> AggregatedRounds::some_models(std::size_t, std::size_t count) const {
  return post_process([count](const Vector& theta) { return Columns(theta, count); }, theta_);
}

void AggregatedRounds::completed() {
  ++done_;
  watch_.lap(shares_.exchange);
  observers_.notify(*this);
  watch_.lap(shares_.observing);
}

void AggregatedRounds::begin(const std::vector<Observer*>& observers) {
  observers_ = ObserverList(observers, ObserverList::Calls::when_due);
  if (done_ == 0) observers_.notify(*this);
}

}  // namespace starling
