#include "net/milestones.hpp"

#include <algorithm>
#include <exception>

#include "state.hpp"

namespace starling {

struct Milestones::State {
  World::State& world;
  MPI_Comm passing = MPI_COMM_NULL;
  std::deque<MPI_Request> open;  ///< a barrier for each point that not all have passed yet, in order
  std::int64_t closed = 0;
};

Milestones::Milestones(World& world, const std::vector<int>& passing) : state_(new State{world.state(), {}, {}, 0}) {
  const bool takes_part = std::find(passing.begin(), passing.end(), world.rank()) != passing.end();
  MPI_Comm_split(state_->world.agreement, takes_part ? 0 : MPI_UNDEFINED, world.rank(), &state_->passing);
}

// After a failure other ranks may never pass. Open requests stay open, and World ends without them.
Milestones::~Milestones() {
  if (state_->world.failed || std::uncaught_exceptions() > 0 || state_->passing == MPI_COMM_NULL ||
      !state_->open.empty())
    return;
  MPI_Comm_free(&state_->passing);
}

void Milestones::pass() {
  MPI_Ibarrier(state_->passing, &state_->open.emplace_back());
}

std::int64_t Milestones::passed_by_all() {
  while (!state_->open.empty()) {
    int done = 0;
    MPI_Test(&state_->open.front(), &done, MPI_STATUS_IGNORE);
    if (done == 0) break;
    state_->open.pop_front();
    ++state_->closed;
  }
  return state_->closed;
}

void Milestones::settle() {
  for (; !state_->open.empty(); ++state_->closed) {
    state_->world.wait_collective(state_->open.front(), "checkpoints");
    state_->open.pop_front();
  }
}

}  // namespace starling
