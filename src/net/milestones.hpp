/// Count of the points that all ranks have passed. Each rank passes a point at its own time, and no rank waits for
/// another to learn the count.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/world.hpp"

namespace starling {

class Milestones {
 public:
  /// `passing`: the ranks that will pass points, ascending. **Collective** over all ranks.
  Milestones(World& world, const std::vector<int>& passing);
  ~Milestones();
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  /// Passes the next point of this rank, which is one of the passing ranks.
  void pass();
  /// Number of points that all passing ranks have passed, as far as this rank knows.
  [[nodiscard]] std::int64_t passed_by_all();
  /// Waits until all passing ranks have passed the points that this rank has passed. **Collective** over the passing
  /// ranks. Throws as waits do.
  void settle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
