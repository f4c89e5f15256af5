/// Averaged models: means over rounds, weighted by mass. The average of a noisy run has less noise than its last model
/// (Polyak and Juditsky 1992).
#pragma once

#include "core/snapshot.hpp"
#include "output/choices.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// Sums of the released models of this rank's clients over the rounds that count. Post-processing costs no privacy.
///
/// The mean of client u is Σ_t w_u,t x_u,t / Σ_t w_u,t with the push-sum masses w. Mixing preserves Σ_u w_u x_u, and a
/// step moves x_u by η/w_u. Dropout or link losses may leave a client little mass: then its model has the noise of few
/// gradients, divided by that mass. Such rounds would dominate an unweighted mean. Masses depend on the graph alone, so
/// the weights add no bias. Where masses are 1, as under plain mixing, the result is the ordinary mean.
class ModelAverage final : public Observer {
 public:
  /// `zero` has the size that the sums of this rank will have, or none, and then they get it in the first round that
  /// counts. Ranks whose clients may change need it: one whose clients all join has no sums of earlier rounds.
  ModelAverage(Averaging averaging, Round rounds, Columns zero = Columns());
  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return after_ + 1; }
  /// The means, d × clients of this rank. A client without mass in the rounds that count has its model of `view`; so
  /// has every client if no round counts yet.
  [[nodiscard]] Released<Columns> models(const RoundView& view) const;
  void persist(Snapshot& snapshot) {
    snapshot(counted_);
    snapshot.of_clients(sums_, weights_);
  }

 private:
  Round after_;  ///< rounds up to this one do not count
  Round counted_ = 0;
  Released<Columns> sums_;  ///< Σ w x
  Vector weights_;          ///< Σ w of each client
};

}  // namespace starling
