#include "net/milestones.hpp"

#include <algorithm>
#include <exception>
#include <list>
#include <map>

#include "net/missing_messages.hpp"
#include "net/seal/seal.hpp"
#include "state.hpp"

namespace starling {

struct Milestones::State {
  World::State& world;
  MPI_Comm passing = MPI_COMM_NULL;
  std::deque<MPI_Request> open = {};  ///< a barrier for each point that not all have passed yet, in order
  std::int64_t closed = 0;

  // Where messages are sealed, ranks tell each other of each point by a message without content, in place of barriers.
  struct Word {
    std::vector<std::byte> way;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::map<int, std::int64_t> heard = {};  ///< points that the other ranks have passed, as far as this one knows
  std::int64_t passed = 0;                 ///< points that this one has passed
  std::list<Word> words = {};              ///< on their way

  void tell();
  void listen();
  [[nodiscard]] std::int64_t passed_by_all();
  /// The ranks that have not passed all points, as far as this one knows.
  [[nodiscard]] std::vector<int> behind() const;
};

namespace {

/// On the communicator of agreements; those of sealed_parts.cpp have 1.
constexpr int tag_of_milestones = 2;

}  // namespace

void Milestones::State::tell() {
  ++passed;
  drop_delivered(words);
  for (const auto& [rank, unused] : heard) {
    Word& word = words.emplace_back();
    word.way = world.seal->closed(MessageKind::milestone, rank, 0, {});
    MPI_Isend(word.way.data(), static_cast<int>(word.way.size()), MPI_BYTE, rank, tag_of_milestones, world.agreement,
              &word.request);
  }
}

void Milestones::State::listen() {
  while (true) {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_of_milestones, world.agreement, &arrived, &status);
    if (arrived == 0) return;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::vector<std::byte> way(static_cast<std::size_t>(size));
    MPI_Recv(way.data(), size, MPI_BYTE, status.MPI_SOURCE, tag_of_milestones, world.agreement, MPI_STATUS_IGNORE);
    static_cast<void>(world.seal->opened(MessageKind::milestone, status.MPI_SOURCE, 0, way));
    ++heard[status.MPI_SOURCE];
  }
}

std::vector<int> Milestones::State::behind() const {
  std::vector<int> ranks;
  for (const auto& [rank, count] : heard) {
    if (count < passed) ranks.push_back(rank);
  }
  return ranks;
}

std::int64_t Milestones::State::passed_by_all() {
  listen();
  std::int64_t least = passed;
  for (const auto& [rank, count] : heard) least = std::min(least, count);
  return least;
}

Milestones::Milestones(World& world, const std::vector<int>& passing) : state_(new State{.world = world.state()}) {
  if (state_->world.seal) {
    for (const int r : passing) {
      if (r != world.rank()) state_->heard[r] = 0;
    }
    return;
  }
  const bool takes_part = std::find(passing.begin(), passing.end(), world.rank()) != passing.end();
  MPI_Comm_split(state_->world.agreement, takes_part ? 0 : MPI_UNDEFINED, world.rank(), &state_->passing);
}

// After a failure other ranks may never pass. Open requests stay open, and World ends without them.
Milestones::~Milestones() {
  for (State::Word& word : state_->words) {
    state_->world.abandon(word.request, std::make_shared<std::vector<std::byte>>(std::move(word.way)));
  }
  if (state_->world.failed || std::uncaught_exceptions() > 0 || state_->passing == MPI_COMM_NULL ||
      !state_->open.empty())
    return;
  MPI_Comm_free(&state_->passing);
}

void Milestones::pass() {
  if (state_->world.seal) return state_->tell();
  MPI_Ibarrier(state_->passing, &state_->open.emplace_back());
}

std::int64_t Milestones::passed_by_all() {
  if (state_->world.seal) return state_->passed_by_all();
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
  if (state_->world.seal) {
    MissingMessages missing(state_->world, MessageKind::milestone);
    const auto all_passed = [&] {
      if (state_->passed_by_all() == state_->passed) return true;
      missing.look(state_->behind());
      return false;
    };
    return state_->world.wait_for_all(all_passed, "checkpoints");
  }
  for (; !state_->open.empty(); ++state_->closed) {
    state_->world.wait_collective(state_->open.front(), "checkpoints");
    state_->open.pop_front();
  }
}

}  // namespace starling
