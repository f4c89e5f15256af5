/// Batch means along the way (docs/methods/inference.md, "Intervals"; Zhu, Chen and Wu 2023, "Online covariance matrix
/// estimation in stochastic gradient descent").
#pragma once

#include <optional>

#include "inference/path_intervals.hpp"

namespace starling {

/// Online estimator of overlapping batch means, for any number of models. Call add() once per model, then spread() at
/// any time. Batches begin at the models a_m = ⌊m^{2/(1−α)}⌋, m = 1, 2, …, and do not depend on how many come. For the
/// i-th model, S_i is the sum and l_i the number of the models from the begin of its batch up to itself, and
///
///   Σ̂_n = Σ_{i≤n} (S_i − l_i X̄_n)(S_i − l_i X̄_n)' / Σ_{i≤n} l_i.
///
/// Only its diagonal is kept. If models have masses, S_i and X̄ are weighted by them, l_i is a mass, and Σ̂ / W_n is the
/// variance of the weighted mean.
class OverlappingBatches {
 public:
  /// 0 < α < 1, else throws UsageError.
  OverlappingBatches(std::size_t dimension, double alpha);
  /// Adds θ_i, d entries, of mass w_i >= 0. O(d).
  void add(View theta, double mass = 1);
  /// Mean of all models so far with spreads √(Σ̂_jj / mass). None in the first eight batches: the variance would be
  /// that of hardly any number.
  [[nodiscard]] std::optional<Spread> spread() const;

  void persist(Snapshot& snapshot) {
    snapshot(count_, batch_, next_, mass_, batch_mass_, masses_, squared_masses_, mean_, sum_, squares_, cross_,
             origin_);
  }

 private:
  [[nodiscard]] std::int64_t begin_of(std::int64_t batch) const;

  double power_;               ///< 2/(1 − α)
  std::int64_t count_ = 0;     ///< models
  std::int64_t batch_ = 0;     ///< m of the current batch
  std::int64_t next_ = 1;      ///< a_{m+1}
  double mass_ = 0;            ///< of all models
  double batch_mass_ = 0;      ///< l_i
  double masses_ = 0;          ///< Σ l_i
  double squared_masses_ = 0;  ///< Σ l_i²
  Vector mean_;                ///< of all models, less θ_1
  Vector sum_;                 ///< S_i, of models less θ_1
  Vector squares_;             ///< Σ S_i²
  Vector cross_;               ///< Σ l_i S_i
  Vector origin_;              ///< θ_1
};

}  // namespace starling
