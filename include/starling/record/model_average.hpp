/// Means of each client's models over rounds: what a noisy run had better end with (Polyak and Juditsky 1992), weighted
/// by mass.
#pragma once

#include "starling/core/snapshot.hpp"
#include "starling/protocol/observer.hpp"

namespace starling {

enum class Averaging {
  none,  ///< the models of the last round
  tail,  ///< the mean over the second half of the planned rounds (Rakhlin, Shamir and Sridharan 2012)
  all,   ///< over all rounds
};
[[nodiscard]] const char* name_of(Averaging averaging);

/// Adds up the released models of this rank's clients, after each round that counts. Post-processing: it costs no
/// privacy.
///
/// The mean of client u is Σ_t w_u,t x_u,t / Σ_t w_u,t with the push-sum masses w. Mixing preserves Σ_u w_u x_u, and a
/// step moves x_u by η/w_u: in rounds where opt-outs or losses leave a client little mass, its model has the noise of
/// few gradients divided by that mass. Such rounds would rule an unweighted mean. Masses depend on the graph alone, so
/// weights add no bias. Where masses are 1, as under plain mixing, it is the ordinary mean.
class ModelAverage final : public Observer {
 public:
  ModelAverage(Averaging averaging, Round rounds);
  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return after_ + 1; }
  /// The means, d × clients of this rank; the models of `view` if the run has stopped before a round counted, and for
  /// clients without mass in all rounds that did.
  [[nodiscard]] Released<Columns> models(const RoundView& view) const;
  void persist(Snapshot& snapshot) { snapshot(counted_, sums_, weights_); }

 private:
  Round after_;  ///< rounds up to this one do not count
  Round counted_ = 0;
  Released<Columns> sums_{declare_public(Columns())};  ///< Σ w x
  Vector weights_;                                     ///< Σ w of each client
};

}  // namespace starling
