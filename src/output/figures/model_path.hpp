/// Figures of the path of a model: the rate at which a run forgets, and whether it has arrived.
#pragma once

#include <vector>

#include "core/snapshot.hpp"
#include "net/agreement.hpp"
#include "protocol/observer.hpp"
#include "protocol/step_schedule.hpp"

namespace starling {

/// Figures of a path. Where it has not come to its end, or was resumed with more rounds behind its mark half-way, they
/// say nothing: no contraction, and all of the way.
struct PathFigures {
  double contraction = 0;  ///< a, 0 or more
  /// Part of the way, to where the path leads, that the run has come: 1 − e^{−a S}.
  double covered = 1;
  /// ‖Σ d_i‖²/(n Σ ‖d_i‖²) of the n moves d_i over equal parts of the second half of Σ η: 1 of moves along a line, some
  /// 1/n of noise, less around an optimum. 0 of fewer parts than ModelPath::parts.
  double steadiness = 0;
};

/// Marks of client 0's model at the start, half-way in Σ η, and from there on to the end; mixing keeps the others near
/// it. For a contraction of 1 − η a in each step the first half of Σ η = S covers the part p = 1/(1 + e^{−a S/2}) of
/// the way, so that a = −(2/S) ln(1/p − 1) (docs/methods/decentralized.md, "Effective weights"). The model is released,
/// and marks cost no privacy.
class ModelPath final : public Observer {
 public:
  static constexpr Round parts = 16;  ///< of the second half

  /// For rounds 0, …, rounds − 1 of this schedule, on the rank whose first client is `first`.
  ModelPath(const StepSchedule& schedule, Round rounds, Client first);

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override;
  /// The same on all ranks. **Collective.**
  [[nodiscard]] PathFigures figures(Agreement& agreement) const;
  void persist(Snapshot& snapshot) {
    snapshot.by_client(marks_, [](const Mark&) { return Client{0}; });
  }

 private:
  struct Mark {
    Round at = 0;
    Vector model;
    double squares = 0;  ///< Σ ‖d_i‖² since half-way
    Round moves = 0;     ///< n
    void persist(Snapshot& snapshot) { snapshot(at, model, squares, moves); }
  };
  [[nodiscard]] bool is_complete() const;

  Client first_;
  double steps_;               ///< S
  std::vector<Round> rounds_;  ///< to be marked, ascending
  std::vector<Mark> marks_;    ///< on the rank of client 0: the start, half-way, the latest
};

/// Influence of a client's steps on the last model, as a share of that of steps in all of the first `rounds` rounds:
/// Σ η_t Π_{s > t} (1 − η_s a) over the rounds t that it has played. In [0, 1].
[[nodiscard]] double influence(const StepSchedule& schedule, Round rounds, const RoundSet& played, double contraction);

}  // namespace starling
