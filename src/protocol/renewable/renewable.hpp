/// Renewable estimation: streaming second-order learning with rank 0 as aggregator (docs/methods/renewable.md; Guo,
/// Xie, Lu, Jiang, Dai and Kong, "Online federated learning framework for classification"). The objective over n
/// records is
///
///   F(θ) = Σ_i ℓ(y_i, x̄_i·θ) + (nλ/2) θᵀPθ,      P = I (`full`) or P = W, which leaves intercepts out (`slopes`).
///
/// λ may change with the batch (eq. 35): then Σ_b n_b λ_b stands for nλ over all batches.
#pragma once

#include "core/snapshot.hpp"
#include "protocol/aggregated/aggregated_rounds.hpp"
#include "protocol/curvature/block_curvature.hpp"
#include "protocol/curvature/second_look.hpp"
#include "protocol/renewable/renewable_clients.hpp"
#include "protocol/renewable/renewable_settings.hpp"

namespace starling {

/// State of rank 0 between batches; each batch renews it by sums.
struct RenewableState {
  Vector theta;
  BlockCurvature j;
  SecondLook look;       ///< with settings.looks_again
  double records = 0;    ///< N_b
  double penalty = 0;    ///< Σ n_b λ_b
  double objective = 0;  ///< Σ over batches of F at the model before the step, penalty included, less the step's gain
  Score later = {};      ///< losses of the batches since the last search, each at the model before its step
  std::int64_t searches = 0;  ///< batches whose step gave way to a search
  Vector slopes = {};         ///< K triangles of Σ ℓ'² x̄x̄ᵀ; empty without settings.with_slopes
  /// For each group of batches and class three sums of the intercept: Σ ℓ'', Σ ℓ' and, with settings.with_slopes, Σ
  /// ℓ'². Each is at the model before its batch. The first batch does not count. Groups grow with the batches, so that
  /// any number of batches has a second half, whatever number was planned.
  Vector intercepts = {};
  Round group = 1;    ///< batches of a group
  Round batches = 0;  ///< in `intercepts`
  void persist(Snapshot& snapshot) {
    snapshot(theta, j, look, records, penalty, objective, later, searches, slopes, intercepts, group, batches);
  }
};

/// The common part of the variants: settings and penalty.
class Renewable : public AggregatedRounds {
 public:
  /// `start` has d entries. Keeps references.
  Renewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
            const Released<Vector>& start);

 protected:
  [[nodiscard]] bool goes_on() { return AggregatedRounds::goes_on(settings_.rounds); }
  /// **Collective.** On rank 0: the public number of records of all clients that participate in this round.
  [[nodiscard]] double count_records(const RoundPrices& prices);
  /// λ of the running batch.
  [[nodiscard]] double l2() const { return settings_.l2_of_batch ? settings_.l2_of_batch->at(done_) : settings_.l2; }
  /// aPθ with a = nλ.
  [[nodiscard]] Vector penalty_gradient(View theta, double a) const;
  /// (a/2) θᵀPθ.
  [[nodiscard]] double penalty_value(View theta, double a) const;
  /// Whether the running batch counts in standard errors under noise: the first quarter does not.
  [[nodiscard]] bool is_late() const { return 4 * done_ >= settings_.rounds; }
  /// Whether the running batch is the last one.
  [[nodiscard]] bool is_last() const { return done_ + 1 == settings_.rounds; }
  /// Adds aP.
  void add_penalty(BlockCurvature& curvature, double a) const;

  RenewableClients& clients_;
  CurvedModel& model_;
  RenewableSettings settings_;
};

}  // namespace starling
