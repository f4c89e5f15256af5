/// How fast a run forgets: the contraction that the path of a model shows.
#pragma once

#include <vector>

#include "net/agreement.hpp"
#include "protocol/observer.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

/// Marks of client 0's model at the start, half-way in Σ η, and at the end; mixing keeps the others near it. For a
/// contraction of 1 − η a in each step the first half of Σ η = S covers the part p = 1/(1 + e^{−a S/2}) of the way, so
/// that a = −(2/S) ln(1/p − 1) (docs/methods/decentralized.md, "Effective weights"). The model is released, and marks
/// cost no privacy.
class ModelPath final : public Observer {
 public:
  /// For rounds 0, …, rounds − 1 of this schedule, on the rank whose first client is `first`.
  ModelPath(const StepSchedule& schedule, Round rounds, Client first);

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override { return marks_.empty() ? 0 : marks_.size() == 1 ? half_ : end_; }
  /// a, 0 or more; the same on all ranks. 0 where client 0 has not come to the end, or its model has not moved.
  /// **Collective.**
  [[nodiscard]] double contraction(Agreement& agreement) const;
  void persist(Snapshot& snapshot) {
    snapshot.by_client(marks_, [](const Vector&) { return Client{0}; });
  }

 private:
  Client first_;
  Round half_ = 0;
  Round end_;
  double steps_;               ///< S
  std::vector<Vector> marks_;  ///< on the rank of client 0
};

/// Influence of a client's steps on the last model, as a share of that of steps in all of the first `rounds` rounds:
/// Σ η_t Π_{s > t} (1 − η_s a) over the rounds t that it has played. In [0, 1].
[[nodiscard]] double influence(const StepSchedule& schedule, Round rounds, const RoundSet& played, double contraction);

}  // namespace starling
