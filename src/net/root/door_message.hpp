// Messages between clients and the aggregator: their memory, their requests and the waits for them. Internal to the net
// module.
#pragma once

#include "net/state.hpp"
#include <cstddef>
#include <functional>
#include <span>

namespace starling {

/// A message under way, or a buffer for a message. A message still under way at its destruction, after a failure,
/// leaves its memory to MPI.
class DoorMessage {
 public:
  DoorMessage(World::State& world, std::size_t bytes)
      : world_(world), memory_((bytes + sizeof(double) - 1) / sizeof(double)), bytes_(bytes) {}
  DoorMessage(const DoorMessage&) = delete;
  DoorMessage& operator=(const DoorMessage&) = delete;
  ~DoorMessage() { world_.abandon(request_, std::move(memory_)); }

  [[nodiscard]] std::span<std::byte> buffer() { return std::as_writable_bytes(std::span(memory_)).first(bytes_); }
  void send(std::size_t length, int to, int tag);
  void receive(int from, int tag);
  /// Waits until the message has been sent or received. Returns the length of a received message. Throws FailureError
  /// when neither this message nor a sign of life has come from the peer within the watchdog; the error begins with the
  /// text of `awaited`.
  std::size_t wait(const std::function<std::string()>& awaited);

 private:
  World::State& world_;
  Vector memory_;
  std::size_t bytes_;
  int peer_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace starling
