/// The common part of the modes in which rank 0 aggregates.
#pragma once

#include <vector>

#include "core/snapshot.hpp"
#include "protocol/central_rounds.hpp"
#include "protocol/observer.hpp"

namespace starling {

class AggregatedClients;
class Mechanism;

/// A protocol whose clients all have the same model θ. A derived run() calls begin(), then in each round goes_on(), its
/// own steps, and completed().
class AggregatedRounds : public CentralRounds {
 public:
  /// `start` has d entries. `mechanism` makes all releases; null where the derived class keeps its own. Keeps
  /// references.
  AggregatedRounds(Root& root, AggregatedClients& clients, const Released<Vector>& start,
                   Mechanism* mechanism = nullptr);

  /// **Collective.** Plays all rounds, or fewer if a signal stops the run.
  virtual void run(const std::vector<Observer*>& observers) = 0;

  [[nodiscard]] Released<Columns> some_models(std::size_t first, std::size_t count) const override;
  [[nodiscard]] View model(std::size_t) const override { return theta_.value(); }
  [[nodiscard]] const Played& played() const override;
  /// The model θ, the same on all ranks.
  [[nodiscard]] const Released<Vector>& theta() const { return theta_; }
  /// The whole state between rounds, traffic and the noise that later releases take back included; without streams,
  /// keys and accounts.
  virtual void persist(Snapshot& snapshot);
  /// Skips the rounds before `end` that have not been played. Step lengths go by the number of the round. Other records
  /// follow: old noise is not taken back from them.
  virtual void leave_out(Round end);

 protected:
  /// Starts the run for these observers. Shows them the start, unless the run is resumed. No round before `first` is
  /// played, and the start is the model of these rounds.
  void begin(const std::vector<Observer*>& observers, Round first = 0);
  /// Ends the round, and calls the observers.
  void completed();

  Mechanism* mechanism_;
  Released<Vector> theta_;

 private:
  AggregatedClients& members_;
  ObserverList observers_;
};

}  // namespace starling
