#include "door_message.hpp"

#include <algorithm>
#include <limits>

namespace starling {

namespace {

int checked_length(std::size_t bytes) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  check(bytes <= most, "a message of {} bytes to the aggregator: the most that one carries is {}. Use fewer features.",
        bytes, most);
  return static_cast<int>(bytes);
}

MessageKind kind_of(int tag) {
  if (tag == tag_peers) return MessageKind::peers;
  return tag == tag_up ? MessageKind::up : MessageKind::down;
}

}  // namespace

void DoorMessage::send(std::size_t length, int to, int tag) {
  peer_ = to;
  if (world_.seals(to)) {
    const std::span<const std::byte> plain = buffer().first(length);
    way_->resize(world_.seal->size(to, length));
    world_.seal->close(kind_of(tag), to, world_.current_round(), plain, *way_);
    MPI_Isend(way_->data(), checked_length(way_->size()), MPI_BYTE, to, tag, world_.data, &request_);
    return;
  }
  way_->clear();
  MPI_Isend(memory_.data(), checked_length(length), MPI_BYTE, to, tag, world_.data, &request_);
}

void DoorMessage::receive(int from, int tag) {
  peer_ = from;
  tag_ = tag;
  opens_ = world_.seals(from);
  if (opens_) {
    way_->resize(world_.seal->size(from, bytes_));
    MPI_Irecv(way_->data(), checked_length(way_->size()), MPI_BYTE, from, tag, world_.data, &request_);
    return;
  }
  way_->clear();
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
  const std::size_t came = length == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(length);
  if (std::exchange(opens_, false)) return opened(std::min(came, way_->size()));  // a sender may have sent more
  world_.throw_mpi_error();
  return came;
}

/// Opens a message of so many bytes into the buffer; returns its length.
std::size_t DoorMessage::opened(std::size_t came) {
  const std::span<const std::byte> way = std::span(std::as_const(*way_)).first(came);
  const std::size_t plain = came - std::min(came, Seal::tag_size);
  world_.seal->open(kind_of(tag_), peer_, world_.current_round(), way, buffer().first(plain));
  return plain;
}

}  // namespace starling
