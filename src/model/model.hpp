/// Models: losses and clipped gradients of records under given parameters.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "core/snapshot.hpp"
#include "score.hpp"

namespace starling {

/// The summation of clipped gradients over a batch.
struct Summing {
  /// Records whose gradients are added up together. What rounding does to their sum depends on them alone.
  std::size_t at_once = std::numeric_limits<std::size_t>::max();
  double margin = 0;  ///< share of the clip that rounding within these sums needs
};

/// A record of an audit, whose gradient lies in one coordinate and is as long as the clip allows (1 without a clip).
struct Canary {
  std::size_t coordinate = 0;
  int sign = 1;  ///< of the gradient: 1 or −1
};

/// A model whose parameters are one vector of length d.
class Model {
 public:
  virtual ~Model() = default;
  /// Number d of parameters.
  [[nodiscard]] virtual std::size_t dimension() const = 0;
  [[nodiscard]] virtual bool classifies() const = 0;
  /// Returns the score of the batch and writes Σ clip(∇f_i) over its records into `gradient` (resized to d). With clips
  /// of kind l1 and l2 the norm of a clipped gradient is at most clip.bound up to a few roundings per entry, which the
  /// mechanism's margin covers (docs/methods/privacy.md). A record out of range adds nothing and is no error, so that
  /// only the sum depends on a record.
  virtual Score evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) = 0;
  [[nodiscard]] virtual Score score(View parameters, const Batch& batch) = 0;
  /// As `evaluate`, of these records and a canary before them. A model of a user's code sees a record of the canary,
  /// too, and clips a gradient that is too long.
  virtual Score evaluate_with_canary(View parameters, const Canary& canary, const Batch& others, const Clip& clip,
                                     Vector& gradient) {
    const Score score = evaluate(parameters, others, clip, gradient);
    gradient[canary.coordinate] += canary.sign * (clip.kind == ClipKind::none ? 1 : clip.bound);
    return score;
  }
  /// The model's own start values, from a public seed alone; none if the domain chooses the start.
  [[nodiscard]] virtual std::optional<Vector> initial(std::uint64_t /*seed*/) const { return std::nullopt; }
  /// The parameters of the model that answers every record with these scores (K of them); none of a model without
  /// intercepts.
  [[nodiscard]] virtual std::optional<Vector> constant(View /*scores*/) const { return std::nullopt; }
  [[nodiscard]] virtual Summing summing() const { return {}; }
  /// Largest magnitude of a parameter; a run with a larger one ends as diverged, whatever the records.
  [[nodiscard]] virtual double largest_parameter() const { return 1e100; }
};

}  // namespace starling
