#include "door_message.hpp"

#include <limits>

namespace starling {

namespace {

int checked_length(std::size_t bytes) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  check(bytes <= most, "a message of {} bytes to the aggregator: the most that one carries is {}. Use fewer features.",
        bytes, most);
  return static_cast<int>(bytes);
}

}  // namespace

void DoorMessage::send(std::size_t length, int to, int tag) {
  peer_ = to;
  MPI_Isend(memory_.data(), checked_length(length), MPI_BYTE, to, tag, world_.data, &request_);
}

void DoorMessage::receive(int from, int tag) {
  peer_ = from;
  MPI_Irecv(memory_.data(), checked_length(bytes_), MPI_BYTE, from, tag, world_.data, &request_);
}

std::size_t DoorMessage::wait(const std::function<std::string()>& awaited) {
  PatienceClock clock;
  MPI_Status status;
  for (unsigned spins = 1;; ++spins) {
    int done = 0;
    MPI_Test(&request_, &done, &status);
    if (done != 0) break;
    if (spins % 64 != 0) continue;
    double waited = clock.seconds();
    const bool others_gave_up = world_.poll_while_waiting(clock.suspended());
    if (world_.rank == 0) world_.show_life();
    if (std::exchange(world_.peers[static_cast<std::size_t>(peer_)].heard, false)) {
      clock = PatienceClock();
      waited = 0;
    }
    if (waited > world_.watchdog || others_gave_up) {
      world_.waited_in_vain = true;
      throw FailureError(fmt::format(
          "{}: nothing came for {:.3g} s. See whether that rank still runs, or raise --watchdog.", awaited(), waited));
    }
    clock.rest();
  }
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  return length == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(length);
}

}  // namespace starling
