/// Means of each client's models over rounds: what a noisy run had better end with (Polyak and Juditsky 1992).
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
class ModelAverage final : public Observer {
 public:
  ModelAverage(Averaging averaging, Round rounds);
  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return after_ + 1; }
  /// The means, d × clients of this rank; those of `view` if the run has stopped before a round counted.
  [[nodiscard]] Released<Columns> models(const RoundView& view) const;
  void persist(Snapshot& snapshot) { snapshot(counted_, sums_); }

 private:
  Round after_;  ///< rounds up to this one do not count
  Round counted_ = 0;
  Released<Columns> sums_{declare_public(Columns())};
};

}  // namespace starling
