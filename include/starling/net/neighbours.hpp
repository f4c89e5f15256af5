/// The peer-to-peer door: what clients send each other within rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/core/snapshot.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// Messages and bytes over one edge between clients. An edge inside a rank counts like any other: this is what the
/// algorithm sends, whatever the layout.
struct EdgeTraffic {
  Client from = 0;
  Client to = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  void persist(Snapshot& snapshot) { snapshot(from, to, messages, bytes); }
};

/// What went between ranks.
struct WireTraffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  void persist(Snapshot& snapshot) { snapshot(messages, bytes); }
};

/// Whether a plan serves many rounds (worth setting up) or one.
enum class PlanUse { fixed_graph, changing_graph };

/// Whether a sender's vector is the same for all of its out-neighbours, or each edge has its own.
enum class Parcels { per_sender, per_edge };

/// Where the vectors of all in-neighbours lie after an exchange: those of clients of this rank in the block that they
/// were sent from, all others in a buffer of the plan.
class Received {
 public:
  /// Vector of in-neighbour number i (in the order of `links[k].in`) of local client k.
  [[nodiscard]] View operator()(std::size_t k, std::size_t i) const { return {start(slots_[begin_[k] + i]), length_}; }

 private:
  friend class Neighbours;
  static constexpr std::uint32_t from_buffer = std::uint32_t{1} << 31;
  [[nodiscard]] const double* start(std::uint32_t slot) const {
    return slot < from_buffer ? block_ + slot * length_ : buffer_ + (slot - from_buffer) * length_;
  }

  const double* block_ = nullptr;
  const double* buffer_ = nullptr;
  std::size_t length_ = 0;
  const std::uint32_t* slots_ = nullptr;
  const std::size_t* begin_ = nullptr;  ///< of each client's slots
};

class Neighbours {
 public:
  /// Who sends to whom in a round, worked out for this rank: one message per neighbouring rank that carries each
  /// *sender's* vector once (or each edge's). Kept by the protocol for as long as the links hold.
  class Plan {
   public:
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;
    ~Plan();

   private:
    friend class Neighbours;
    struct State;
    explicit Plan(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  /// Vectors of `length` doubles between the clients of `layout`, whose ranks are those of `world`.
  Neighbours(World& world, const Layout& layout, std::size_t length);
  ~Neighbours();

  /// First client of this rank, and how many it hosts.
  [[nodiscard]] Client first() const;
  [[nodiscard]] std::size_t count() const;
  /// Doubles in a vector.
  [[nodiscard]] std::size_t length() const;

  /// Starts round t. False when a signal has asked the run to end before it; all ranks then end before the same round.
  [[nodiscard]] bool begin_round(Round t);

  /// `links[k]` are those of client first() + k. Local; both ends of an edge must know of it. Messages over `lost`
  /// edges count as traffic, and that is all.
  [[nodiscard]] Plan plan(std::span<const Links> links, PlanUse use, Parcels parcels = Parcels::per_sender);
  /// The same plan for other links; its buffers keep their storage.
  void plan_again(Plan& plan, std::span<const Links> links);

  /// Sends column k of `outgoing` to the out-neighbours of client first() + k (per edge: a column each, in the order of
  /// clients and their `out`; there may be more columns, which are left alone) and waits for the vectors of all
  /// in-neighbours. Collective among neighbours only: no barrier. Throws FailureError when a peer stays silent beyond
  /// the watchdog, PeerError when another rank has failed.
  void exchange(Round t, Plan& plan, const Released<Columns>& outgoing);

  /// What the last exchange of this plan has brought, until the next. `outgoing` is that exchange's.
  [[nodiscard]] Received received(const Plan& plan, const Released<Columns>& outgoing) const;

  /// Before the first plan: the messages of these clients are counted by edge, those of all others together.
  void count_edges_of(const std::vector<Client>& senders);
  /// Per edge whose sender lives here, ascending by (from, to); complete once the plans are gone. If there are more
  /// than 2^20, or they are not counted one by one, the traffic of the others stands last, from −1 to −1.
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  [[nodiscard]] WireTraffic wire_traffic() const;

  /// The traffic so far, in which the messages of this plan are counted before.
  void count(Plan& plan);
  void persist(Snapshot& snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
