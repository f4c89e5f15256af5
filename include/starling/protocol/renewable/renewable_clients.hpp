/// The clients' side of renewable estimation: what a client's records say of a model.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "starling/model/curved_model.hpp"
#include "starling/protocol/aggregated/aggregated_clients.hpp"

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
class RenewableClients final : public AggregatedClients {
 public:
  /// As AggregatedClients.
  RenewableClients(CurvedModel& model, Accounts& accounts, std::vector<NoiseKey> keys,
                   std::vector<std::unique_ptr<Stream>> streams, std::size_t batch);

  [[nodiscard]] MessageLayout layout(bool with_slopes) const {
    return {model_.dimension(), model_.triangles(), with_slopes};
  }

  /// The whole message of client k on its batch; zeros if it takes no part. Holds until the next call.
  [[nodiscard]] const Secret<Vector>& answer(std::size_t k, View theta, const MessageParts& parts);
  /// K triangles of curvature as a vector whose L2 norm is the matrices' Frobenius norm: off-diagonal entries are
  /// multiplied by √2.
  [[nodiscard]] const Secret<Vector>& frobenius_curvature(std::size_t k, View theta);
  /// The message of client k on all batches of pass `pass`; pays for each, and calls `after_batch`.
  [[nodiscard]] const Secret<Vector>& answer_pass(std::size_t k, std::int64_t pass, View theta,
                                                  const MessageParts& parts, const std::function<void()>& after_batch);

 private:
  void add_to_message(std::size_t k, View theta, const MessageParts& parts);

  CurvedModel& model_;
  Secret<Vector> message_;
  Secret<Vector> gradient_;
  Secret<Vector> triangles_;
};

}  // namespace starling
