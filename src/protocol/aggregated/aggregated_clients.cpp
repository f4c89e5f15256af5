#include "protocol/aggregated/aggregated_clients.hpp"

#include "privacy/ledger/accounts.hpp"

namespace starling {

AggregatedClients::AggregatedClients(Model& model, Accounts& accounts, std::vector<NoiseKey> keys,
                                     std::vector<std::unique_ptr<Stream>> streams, std::size_t batch)
    : streams_(std::move(streams)),
      model_(model),
      accounts_(accounts),
      keys_(std::move(keys)),
      batch_(batch),
      batches_(streams_.size(), nullptr),
      played_(streams_.size()) {}

Secret<Batch> AggregatedClients::empty_batch() {
  Batch none;
  none.clear();
  return Secret<Batch>(std::move(none));
}

std::optional<double> AggregatedClients::begin(std::size_t k, Round t) {
  const std::optional<double> price = streams_[k]->ended(t) ? std::nullopt : accounts_.pay(k, t);
  if (!price) {
    const std::optional<double> of_zeros = accounts_.price_of_zeros(k, t);
    batches_[k] = of_zeros ? &nothing_ : nullptr;
    return of_zeros;
  }
  batches_[k] = &streams_[k]->next(t);
  played_.rounds[k].add(t);
  return price;
}

double AggregatedClients::public_records(std::size_t k, Round t) const {
  if (batches_[k] == &nothing_) return 0;
  return static_cast<double>(streams_[k]->planned(t).value_or(static_cast<std::int64_t>(batch_)));
}

const Secret<Vector>& AggregatedClients::gradient(std::size_t k, View theta, const Clip& clip) {
  if (batches_[k] == nullptr) {
    gradient_.update([&](Vector& gradient) { gradient.assign(model_.dimension(), 0.0); });
    return gradient_;
  }
  apply([&](Vector& gradient, Score& tally,
            const Batch& batch) { tally += model_.evaluate(theta, batch, clip, gradient); },
        gradient_, played_.tallies[k], *batches_[k]);
  return gradient_;
}

void AggregatedClients::tally(std::size_t k, View theta) {
  if (batches_[k] == nullptr) return;
  apply([&](Score& tally, const Batch& batch) { tally += model_.score(theta, batch); }, played_.tallies[k],
        *batches_[k]);
}

}  // namespace starling
