#include "sealed_parts.hpp"

#include <algorithm>
#include <list>
#include <memory>

#include "net/missing_messages.hpp"
#include "net/seal/seal.hpp"

namespace starling {

namespace {

/// Tag of these messages on the communicator of agreements; ordered_sum uses 0, Milestones 2.
constexpr int tag_of_parts = 1;

/// Bytes on their way. Those still under way at its destruction, after a failure, are left to MPI.
struct PartOnItsWay {
  PartOnItsWay(World::State& of_run, int other, std::size_t size)
      : state(of_run), rank(other), bytes(std::make_shared<BytesOfRank>(size)) {}
  PartOnItsWay(const PartOnItsWay&) = delete;
  PartOnItsWay& operator=(const PartOnItsWay&) = delete;
  ~PartOnItsWay() { state.abandon(request, bytes); }

  World::State& state;
  int rank;
  std::shared_ptr<BytesOfRank> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// Turns to messages that have come from ranks of which none is under way yet.
void turn_to_arrivals(World::State& state, std::vector<int>& awaited, std::list<PartOnItsWay>& coming) {
  std::erase_if(awaited, [&](int from) {
    int matched = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(from, tag_of_parts, state.agreement, &matched, &message, &status);
    if (matched == 0) return false;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    PartOnItsWay& part = coming.emplace_back(state, from, static_cast<std::size_t>(size));
    MPI_Imrecv(part.bytes->data(), size, MPI_BYTE, &message, &part.request);
    return true;
  });
}

bool all_there(std::list<PartOnItsWay>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](PartOnItsWay& part) {
    int done = 0;
    MPI_Test(&part.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

}  // namespace

std::vector<int> all_ranks(const World::State& state) {
  std::vector<int> ranks;
  for (int r = 0; r < state.size; ++r) ranks.push_back(r);
  return ranks;
}

std::vector<BytesOfRank> swap_parts(World::State& state, const std::vector<int>& receivers,
                                    const std::vector<std::span<const std::byte>>& to, const std::vector<int>& senders,
                                    const char* what) {
  std::vector<BytesOfRank> received(static_cast<std::size_t>(state.size));
  std::list<PartOnItsWay> going;
  for (const int r : receivers) {
    const std::span<const std::byte> part = to[static_cast<std::size_t>(r)];
    if (r == state.rank) {
      received[static_cast<std::size_t>(r)].assign(part.begin(), part.end());
      continue;
    }
    PartOnItsWay& sent = going.emplace_back(state, r, state.seal->size(r, part.size()));
    state.seal->close(MessageKind::agreement, r, 0, part, *sent.bytes);
    MPI_Isend(sent.bytes->data(), static_cast<int>(sent.bytes->size()), MPI_BYTE, r, tag_of_parts, state.agreement,
              &sent.request);
  }
  std::vector<int> awaited = senders;
  std::erase(awaited, state.rank);
  std::list<PartOnItsWay> coming;
  MissingMessages missing(state, MessageKind::agreement);
  state.wait_for_all(
      [&] {
        turn_to_arrivals(state, awaited, coming);
        missing.look(awaited);
        return awaited.empty() && all_there(coming) && all_there(going);
      },
      what);
  for (const PartOnItsWay& part : coming) {
    received[static_cast<std::size_t>(part.rank)] =
        state.seal->opened(MessageKind::agreement, part.rank, 0, *part.bytes);
  }
  return received;
}

std::vector<BytesOfRank> gather_parts(World::State& state, std::span<const std::byte> own,
                                      const std::vector<int>& receivers, const std::vector<int>& senders,
                                      const char* what) {
  const std::vector<std::span<const std::byte>> to(static_cast<std::size_t>(state.size), own);
  return swap_parts(state, receivers, to, senders, what);
}

}  // namespace starling
