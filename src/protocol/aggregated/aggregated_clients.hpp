/// The clients' side of the modes in which rank 0 aggregates: streams, prices and gradients.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/stream.hpp"
#include "model/model.hpp"
#include "privacy/keys/keys.hpp"
#include "protocol/observer.hpp"

namespace starling {

class Accounts;

/// The clients of one rank. In each round call begin() for a client, then gradient() or tally().
class AggregatedClients {
 public:
  /// One key and one stream per client; `batch` is the public batch size m. Keeps references to model and accounts.
  AggregatedClients(Model& model, Accounts& accounts, std::vector<NoiseKey> keys,
                    std::vector<std::unique_ptr<Stream>> streams, std::size_t batch);

  [[nodiscard]] std::size_t count() const { return streams_.size(); }
  [[nodiscard]] const std::vector<std::unique_ptr<Stream>>& streams() const { return streams_; }
  /// Bound on the magnitude of the model's parameters.
  [[nodiscard]] double largest_parameter() const { return model_.largest_parameter(); }
  [[nodiscard]] const NoiseKey& key(std::size_t k) const { return keys_[k]; }

  /// Reads client k's batch of round t and pays for its releases. Returns the price of a release; none if the client
  /// does not participate, because its stream or its budget has ended. Under noise between pairs its batch is empty
  /// then, and it participates with zeros. Rounds ascend.
  std::optional<double> begin(std::size_t k, Round t);
  /// Public number of client k's records in round t, which has begun: it follows from the length of the stream.
  [[nodiscard]] double public_records(std::size_t k, Round t) const;

  /// Client k's batch of this round; null if the client does not participate.
  [[nodiscard]] const Secret<Batch>* batch(std::size_t k) const { return batches_[k]; }
  /// Σ of clipped gradients over client k's batch; zeros if it does not participate. Adds the score to the tally. Valid
  /// until the next call.
  [[nodiscard]] const Secret<Vector>& gradient(std::size_t k, View theta, const Clip& clip);
  /// Adds the model's score on client k's batch to the tally; call it before the step (progressive validation).
  void tally(std::size_t k, View theta);

  /// Without objectives.
  [[nodiscard]] Played& played() { return played_; }

 protected:
  std::vector<std::unique_ptr<Stream>> streams_;

 private:
  [[nodiscard]] static Secret<Batch> empty_batch();

  Model& model_;
  Accounts& accounts_;
  std::vector<NoiseKey> keys_;
  std::size_t batch_;
  std::vector<const Secret<Batch>*> batches_;
  Secret<Batch> nothing_ = empty_batch();
  Played played_;
  Secret<Vector> gradient_;
};

}  // namespace starling
