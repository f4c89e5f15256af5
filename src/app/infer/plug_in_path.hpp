/// Plug-in intervals along the way.
#pragma once

#include "infer_engine.hpp"
#include <vector>

#include "starling/record/intervals/interval_recorder.hpp"
#include "starling/record/rounds.hpp"

namespace starling {

/// The observer that keeps what plug-in intervals of the recorded steps need. It looks after the IntervalRecorder of
/// the same rounds.
class PlugInPath final : public Observer {
 public:
  /// For runs with an aggregator. `engine` and `recorder` must outlive the observer.
  PlugInPath(InferEngine& engine, const IntervalRecorder& recorder, RecordRounds rounds, Round burn_in)
      : engine_(engine), recorder_(recorder), rounds_(rounds), burn_in_(burn_in) {
    static_cast<void>(rounds_.due(0));
  }

  void after(const RoundView& view) override;
  /// The spreads by number of steps, on rank 0; empty elsewhere. `batch` records of a client make a step.
  /// **Collective.**
  [[nodiscard]] std::vector<std::pair<Round, MethodSpread>> spreads(std::size_t batch);
  void persist(Snapshot& snapshot) {
    snapshot(rounds_);
    snapshot.of_first_rank(engine_.paths() > 0, moments_);
  }

 private:
  /// The state of the path after a recorded step, on rank 0.
  struct Moment {
    Round counted = 0;
    Vector estimate;
    double inverse_clients = 1;
    void persist(Snapshot& snapshot) { snapshot(counted, estimate, inverse_clients); }
  };

  InferEngine& engine_;
  const IntervalRecorder& recorder_;
  RecordRounds rounds_;
  Round burn_in_;
  std::vector<Moment> moments_;
};

}  // namespace starling
