/// The clients' side of renewable estimation: what a client's records say of a model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "starling/core/round_set.hpp"
#include "starling/data/stream.hpp"
#include "starling/model/curved_model.hpp"
#include "starling/privacy/accounts.hpp"

namespace starling {

/// What a message says beside the gradient; places of its parts.
///
///   gradient (d), Σ loss (1), records (1), K triangles of curvature, and if `with_slopes` K triangles of Σ ℓ'² x̄ x̄ᵀ
struct MessageParts {
  CurvedModel::Weight curvature = CurvedModel::Weight::curvature;
  bool with_slopes = false;
};
struct MessageLayout {
  std::size_t dimension;
  std::size_t triangles;
  bool with_slopes;
  [[nodiscard]] std::size_t loss() const { return dimension; }
  [[nodiscard]] std::size_t records() const { return dimension + 1; }
  [[nodiscard]] std::size_t curvature() const { return dimension + 2; }
  [[nodiscard]] std::size_t size() const { return curvature() + triangles * (with_slopes ? 2 : 1); }
};

/// The clients of one rank.
class RenewableClients {
 public:
  /// One key and one stream per client; `batch` is the public m. Keeps references to model and accounts.
  RenewableClients(CurvedModel& model, Accounts& accounts, std::vector<NoiseKey> keys,
                   std::vector<std::unique_ptr<Stream>> streams, std::size_t batch);

  [[nodiscard]] std::size_t count() const { return streams_.size(); }
  [[nodiscard]] const NoiseKey& key(std::size_t k) const { return keys_[k]; }
  [[nodiscard]] MessageLayout layout(bool with_slopes) const {
    return {model_.dimension(), model_.triangles(), with_slopes};
  }

  /// Client k's batch of round t becomes what `answer` and `gradient` speak of, and its releases are paid for. Returns
  /// their price; none if the client takes no part: its stream has ended, or its budget. Rounds ascend.
  std::optional<double> begin(std::size_t k, Round t);
  /// Records of client k in round t, as far as all may know it: from the length of its stream.
  [[nodiscard]] double public_records(std::size_t k, Round t) const;

  /// The whole message of client k on its batch; zeros if it takes no part. Holds until the next call.
  [[nodiscard]] const Secret<Vector>& answer(std::size_t k, View theta, const MessageParts& parts);
  /// The gradient sum alone, clipped, and adds to the client's tally.
  [[nodiscard]] const Secret<Vector>& gradient(std::size_t k, View theta, const Clip& clip);
  /// K triangles of curvature as a vector whose L2 norm is the matrices' Frobenius norm: off-diagonal entries are
  /// multiplied by √2.
  [[nodiscard]] const Secret<Vector>& frobenius_curvature(std::size_t k, View theta);
  /// The message of client k on all batches of pass `pass`; pays for each, and calls `after_batch`.
  [[nodiscard]] const Secret<Vector>& answer_pass(std::size_t k, std::int64_t pass, View theta,
                                                  const MessageParts& parts, const std::function<void()>& after_batch);
  /// Adds what the model scores on client k's batch to its tally (method 1: before the step).
  void tally(std::size_t k, View theta);

  [[nodiscard]] const std::vector<Secret<Score>>& tallies() const { return tallies_; }
  [[nodiscard]] const std::vector<RoundSet>& rounds_played() const { return rounds_played_; }

 private:
  void add_to_message(std::size_t k, View theta, const MessageParts& parts);

  CurvedModel& model_;
  Accounts& accounts_;
  std::vector<NoiseKey> keys_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::size_t batch_;
  std::vector<const Secret<Batch>*> batches_;  ///< of the round at hand; null: takes no part
  std::vector<Secret<Score>> tallies_;
  std::vector<RoundSet> rounds_played_;
  Secret<Vector> message_;
  Secret<Vector> gradient_;
  Secret<Vector> triangles_;
};

/// Undoes the √2 of `frobenius_curvature`, in place, for one triangle after the other of this order.
void unscale_frobenius(MutableView triangles, std::size_t order);

}  // namespace starling
