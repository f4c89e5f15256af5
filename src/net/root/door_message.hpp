// Messages between clients and the aggregator: their memory, their requests and the waits for them. Internal to the net
// module.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <utility>

#include "net/state.hpp"

namespace starling {

/// Tags of messages of Root and Peers; Neighbours uses tag 0, Mailboxes 1 and 2.
inline constexpr int tag_up = 3;
inline constexpr int tag_down = 4;
inline constexpr int tag_peers = 5;

/// A message under way, or a buffer for a message. A message still under way at its destruction, after a failure,
/// leaves its memory to MPI.
class DoorMessage {
 public:
  DoorMessage(World::State& world, std::size_t bytes)
      : world_(world), memory_((bytes + sizeof(double) - 1) / sizeof(double)), bytes_(bytes) {}
  DoorMessage(const DoorMessage&) = delete;
  DoorMessage& operator=(const DoorMessage&) = delete;
  ~DoorMessage() {
    if (!way_->empty()) world_.abandon(request_, way_);
    world_.abandon(request_, std::move(memory_));
  }

  [[nodiscard]] std::span<std::byte> buffer() { return std::as_writable_bytes(std::span(memory_)).first(bytes_); }
  void send(std::size_t length, int to, int tag);
  void receive(int from, int tag);
  /// Waits until the message has been sent or received. Returns the length of a received message. Throws FailureError
  /// when neither this message nor a sign of life has come from the peer within the watchdog; the error begins with the
  /// text of `awaited`.
  std::size_t wait(const std::function<std::string()>& awaited);

 private:
  [[nodiscard]] std::size_t opened(std::size_t came);

  World::State& world_;
  Vector memory_;
  std::shared_ptr<std::vector<std::byte>> way_ = std::make_shared<std::vector<std::byte>>();  ///< sealed; else empty
  int tag_ = 0;
  bool opens_ = false;  ///< what is received is sealed
  std::size_t bytes_;
  int peer_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Sends messages from a few buffers. A buffer is reused once its message has been sent. In order: `buffer` and `send`
/// for each message, then `finish`.
class DoorQueue {
 public:
  /// What a wait for a message in vain says of its receiver: the rank, and the client as given to `send`.
  using Complaint = std::function<std::string(int rank, Client u)>;

  /// At most `buffers` messages of at most `most` bytes each are under way.
  DoorQueue(World::State& state, std::size_t most, std::size_t buffers, int tag, Complaint complaint)
      : state_(state), most_(most), buffers_(buffers), tag_(tag), complaint_(std::move(complaint)) {}

  /// Buffer for the next message, until its `send`.
  [[nodiscard]] std::span<std::byte> buffer() {
    if (parcels_.size() < buffers_) {
      parcels_.emplace_back(state_, most_);
    } else {
      wait(parcels_.front());
      parcels_.splice(parcels_.end(), parcels_, parcels_.begin());
    }
    return parcels_.back().message.buffer();
  }
  /// Sends the front of that buffer to a rank, for a client if one is given.
  void send(std::size_t bytes, int rank, Client u = -1) {
    Parcel& parcel = parcels_.back();
    parcel.rank = rank;
    parcel.client = u;
    parcel.message.send(bytes, rank, tag_);
  }
  /// Waits until all have been sent.
  void finish() {
    for (Parcel& parcel : parcels_) wait(parcel);
  }

 private:
  struct Parcel {
    Parcel(World::State& state, std::size_t bytes) : message(state, bytes) {}
    DoorMessage message;
    int rank = 0;
    Client client = -1;
  };

  void wait(Parcel& parcel) {
    parcel.message.wait([&] {
      return fmt::format("round {}: {}", state_.current_round() + 1, complaint_(parcel.rank, parcel.client));
    });
  }

  World::State& state_;
  std::size_t most_;
  std::size_t buffers_;
  int tag_;
  Complaint complaint_;
  std::list<Parcel> parcels_;  // the oldest first
};

}  // namespace starling
