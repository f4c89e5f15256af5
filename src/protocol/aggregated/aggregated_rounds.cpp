#include "protocol/aggregated/aggregated_rounds.hpp"

#include <algorithm>

#include "net/root/root.hpp"
#include "privacy/mechanism.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"

namespace starling {

AggregatedRounds::AggregatedRounds(Root& root, AggregatedClients& clients, const Released<Vector>& start,
                                   Mechanism* mechanism)
    : CentralRounds(root, clients.count()), mechanism_(mechanism), theta_(start), members_(clients) {
  stepped_ = true;  // the start counts as one
}

Released<Columns> AggregatedRounds::some_models(std::size_t, std::size_t count) const {
  return post_process([count](const Vector& theta) { return Columns(theta, count); }, theta_);
}

const Played& AggregatedRounds::played() const {
  return members_.played();
}

void AggregatedRounds::persist(Snapshot& snapshot) {
  Played& played = members_.played();
  snapshot(theta_, done_, shares_);
  snapshot.of_clients(played.tallies, played.rounds);
  snapshot(root_);
  snapshot.of_clients(played.objectives);
  snapshot.of_first_rank(root_.aggregates(), stepped_);
  if (mechanism_ != nullptr) snapshot(*mechanism_);
}

void AggregatedRounds::leave_out(Round end) {
  done_ = std::max(done_, end);
  if (mechanism_ != nullptr) mechanism_->begin_chains();
}

void AggregatedRounds::completed() {
  ++done_;
  watch_.lap(shares_.exchange);
  observers_.notify(*this);
  watch_.lap(shares_.observing);
}

void AggregatedRounds::begin(const std::vector<Observer*>& observers, Round first) {
  observers_ = ObserverList(observers, ObserverList::Calls::when_due);
  if (done_ == 0) observers_.notify(*this);
  if (done_ < first) {
    done_ = first;
    observers_.notify(*this);
  }
}

}  // namespace starling
