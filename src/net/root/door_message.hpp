// Messages through the aggregator's door: their memory, their requests and the waits for them. Internal to the net
// room.
#pragma once

#include "net/state.hpp"
#include <cstddef>
#include <functional>
#include <span>

namespace starling {

/// A message under way, or a buffer for one. One that is still under way when it goes, after a failure, leaves its
/// memory to MPI.
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
  /// Waits until it has gone or come, and returns its length if it has come. Throws FailureError, which begins with
  /// what `awaited` says, once nothing has been heard of the rank at its other end for as long as the watchdog: neither
  /// this message nor a sign of life.
  std::size_t wait(const std::function<std::string()>& awaited);

 private:
  World::State& world_;
  Vector memory_;
  std::size_t bytes_;
  int peer_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace starling
