/// The clients' side of the modes in which rank 0 aggregates: streams, payment and gradients.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "starling/core/round_set.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/data/stream.hpp"
#include "starling/model/model.hpp"
#include "starling/privacy/ledger/accounts.hpp"

namespace starling {

/// The clients of one rank.
class AggregatedClients {
 public:
  /// One key and one stream per client; `batch` is the public m. Keeps references to model and accounts.
  AggregatedClients(Model& model, Accounts& accounts, std::vector<NoiseKey> keys,
                    std::vector<std::unique_ptr<Stream>> streams, std::size_t batch);

  [[nodiscard]] std::size_t count() const { return streams_.size(); }
  /// Of the model.
  [[nodiscard]] double largest_parameter() const { return model_.largest_parameter(); }
  [[nodiscard]] const NoiseKey& key(std::size_t k) const { return keys_[k]; }

  /// Client k's batch of round t becomes what the others below speak of, and its releases are paid for. Returns their
  /// price; none if the client takes no part: its stream has ended, or its budget. Rounds ascend.
  std::optional<double> begin(std::size_t k, Round t) {
    batches_[k] = nullptr;
    if (streams_[k]->ended(t)) return std::nullopt;
    const std::optional<double> price = accounts_.pay(k, t);
    if (!price) return std::nullopt;
    batches_[k] = &streams_[k]->next(t);
    rounds_played_[k].add(t);
    return price;
  }
  /// Records of client k in round t, as far as all may know it: from the length of its stream.
  [[nodiscard]] double public_records(std::size_t k, Round t) const;

  /// Of the round at hand; null if the client takes no part.
  [[nodiscard]] const Secret<Batch>* batch(std::size_t k) const { return batches_[k]; }
  /// The gradient sum, clipped, and adds to the client's tally; zeros if it takes no part. Holds until the next call.
  [[nodiscard]] const Secret<Vector>& gradient(std::size_t k, View theta, const Clip& clip);
  /// Adds what the model scores on client k's batch to its tally (method 1: before the step).
  void tally(std::size_t k, View theta);

  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const { return tallies_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const { return rounds_played_; }
  void persist(Snapshot& snapshot) { snapshot(tallies_, rounds_played_); }

 protected:
  std::vector<std::unique_ptr<Stream>> streams_;

 private:
  Model& model_;
  Accounts& accounts_;
  std::vector<NoiseKey> keys_;
  std::size_t batch_;
  std::vector<const Secret<Batch>*> batches_;
  std::vector<Secret<Score>> tallies_;
  std::vector<RoundSet> rounds_played_;
  Secret<Vector> gradient_;
};

}  // namespace starling
