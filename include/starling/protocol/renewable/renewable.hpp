/// Renewable estimation: streaming second-order learning with rank 0 as aggregator (method 3; Guo, Xie, Lu, Jiang, Dai
/// and Kong, "Online federated learning framework for classification"). The objective over n records is
///
///   F(θ) = Σ_i ℓ(y_i, x̄_i·θ) + (nλ/2) θᵀPθ,  P = I (`full`) or W, which leaves intercepts out (`slopes`).
#pragma once

#include "starling/core/snapshot.hpp"
#include "starling/protocol/aggregated/aggregated_rounds.hpp"
#include "starling/protocol/renewable/block_curvature.hpp"
#include "starling/protocol/renewable/renewable_clients.hpp"

namespace starling {

enum class Penalty { full, slopes };

struct RenewableSettings {
  Round rounds = 1;  ///< batches; of `offline`, passes over the data at most
  double l2 = 0;     ///< λ
  Penalty penalty = Penalty::full;
  bool safe_start = true;    ///< minimise over the first batch, then go online
  double forget = 1;         ///< ρ that J is multiplied by with each batch
  bool with_slopes = false;  ///< keep Σ ℓ'² x̄x̄ᵀ, for sandwich standard errors
};

/// What rank 0 keeps between batches, all of it renewed from sums over one batch.
struct RenewableState {
  Vector theta;
  BlockCurvature j;
  double records = 0;   ///< N_b
  double residual = 0;  ///< Σ over batches of the losses at the model before, less what the step gains on them
  Score later = {};     ///< losses of all batches but the first, each at the model before it
  Vector slopes = {};   ///< K triangles of Σ ℓ'² x̄x̄ᵀ; empty if not asked for
  void persist(Snapshot& snapshot) { snapshot(theta, j, records, residual, later, slopes); }
};

/// What the variants share: settings, and the penalty.
class Renewable : public AggregatedRounds {
 public:
  /// `start` has d entries. Keeps references.
  Renewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
            const Released<Vector>& start);

 protected:
  [[nodiscard]] bool goes_on() { return AggregatedRounds::goes_on(settings_.rounds); }
  /// nλPθ.
  [[nodiscard]] Vector penalty_gradient(View theta, double records) const;
  /// (nλ/2) θᵀPθ.
  [[nodiscard]] double penalty_value(View theta, double records) const;
  void add_penalty(BlockCurvature& curvature, double records) const;

  RenewableClients& clients_;
  CurvedModel& model_;
  RenewableSettings settings_;
};

}  // namespace starling
