/// The clients' side of renewable estimation: sums over a client's records.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/curved_model.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"

namespace starling {

/// Prices of the releases of one round, one per local client; none for clients that do not participate.
using RoundPrices = std::vector<std::optional<double>>;

/// The optional parts of a message.
struct MessageParts {
  CurvedModel::Weight curvature = CurvedModel::Weight::curvature;
  bool with_slopes = false;
};
/// Places of the parts of a message:
///
///   gradient (d), Σ loss (1), records (1), K triangles of curvature, and if `with_slopes` K triangles of Σ ℓ'² x̄x̄ᵀ
struct MessageLayout {
  std::size_t dimension;
  std::size_t triangles;
  bool with_slopes;
  [[nodiscard]] std::size_t loss() const { return dimension; }
  [[nodiscard]] std::size_t records() const { return dimension + 1; }
  [[nodiscard]] std::size_t curvature() const { return dimension + 2; }
  [[nodiscard]] std::size_t size() const { return curvature() + triangles * (with_slopes ? 2 : 1); }
};

/// The clients of one rank. In each round call begin() or begin_all(), then the sums that are needed.
class RenewableClients final : public AggregatedClients {
 public:
  /// Arguments as of AggregatedClients.
  RenewableClients(CurvedModel& model, Accounts& accounts, std::vector<NoiseKey> keys,
                   std::vector<std::unique_ptr<Stream>> streams, std::size_t batch)
      : RenewableClients(model, model, accounts, std::move(keys), std::move(streams), batch) {}
  /// `learned` is the model whose gradients are released: that of the persons, if `model` is that of the records.
  RenewableClients(CurvedModel& model, Model& learned, Accounts& accounts, std::vector<NoiseKey> keys,
                   std::vector<std::unique_ptr<Stream>> streams, std::size_t batch);

  [[nodiscard]] MessageLayout layout(bool with_slopes) const {
    return {model_.dimension(), model_.triangles(), with_slopes};
  }

  /// begin() of all local clients.
  [[nodiscard]] RoundPrices begin_all(Round t);
  /// The whole message of client k on its batch; zeros if it does not participate. Valid until the next call.
  [[nodiscard]] const Secret<Vector>& answer(std::size_t k, View theta, const MessageParts& parts);
  /// K triangles of curvature with off-diagonal entries times √2, so that the L2 norm is the Frobenius norm.
  [[nodiscard]] const Secret<Vector>& frobenius_curvature(std::size_t k, View theta);
  /// The message of client k on all batches of pass `pass`. Pays for each batch, and calls `after_batch` after it.
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
