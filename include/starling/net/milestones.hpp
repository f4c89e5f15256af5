/// Points that ranks pass each at its own time, and that all have passed at some time: known without waiting for
/// anybody.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "starling/net/world.hpp"

namespace starling {

class Milestones {
 public:
  /// `passing`: the ranks that will pass points, ascending. **Collective** over all ranks.
  Milestones(World& world, const std::vector<int>& passing);
  ~Milestones();
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  /// This rank, one of those, passes its next point.
  void pass();
  /// How many points all of those ranks have passed, as far as it is known here.
  [[nodiscard]] std::int64_t passed_by_all();
  /// Waits until all have passed what this rank has. Collective over those ranks. Throws as waits do.
  void settle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
