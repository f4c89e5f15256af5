/// The peer-to-peer door: what clients send each other within rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "starling/core/boundary.hpp"
#include "starling/core/links.hpp"
#include "starling/net/traffic.hpp"
#include "starling/net/world.hpp"

namespace starling {

/// Tells the links of local client k, which hold until it is asked again.
using LinksOf = std::function<const Links&(std::size_t k)>;

/// Whether a plan serves all rounds (worth setting up), some of them again and again, or one.
enum class PlanUse { fixed_graph, repeating_graph, changing_graph };

/// Whether a sender's vector is the same for all of its out-neighbours, or each edge has its own.
enum class Parcels { per_sender, per_edge };

/// How vectors get from one rank to another of the same host; to other hosts they go as messages. It changes no result.
enum class ExchangeWay {
  automatic,  ///< windows, if the system has memory to share
  messages,
  windows,  ///< memory that the ranks of a host share: receivers read vectors where their senders have written them
};

/// Where the vectors of all in-neighbours lie after an exchange: those of clients of this rank in the block that they
/// were sent from, all others in a buffer, or in windows where their senders have written them.
class Received {
 public:
  /// Vector of in-neighbour number i (in the order of `links[k].in`) of local client k.
  [[nodiscard]] View operator()(std::size_t k, std::size_t i) const { return {start(slots_[begin_[k] + i]), length_}; }

 private:
  friend class Neighbours;
  /// Without a branch: whether a neighbour is of this rank is as good as random, and nobody could guess it.
  [[nodiscard]] const double* start(std::uint32_t slot) const {
    return blocks_[slot >> column_bits_] + (slot & ((std::uint32_t{1} << column_bits_) - 1)) * length_;
  }

  const double* const* blocks_ = nullptr;
  unsigned column_bits_ = 0;
  std::size_t length_ = 0;
  const std::uint32_t* slots_ = nullptr;  ///< of an in-neighbour each: a block, and its column there
  const std::size_t* begin_ = nullptr;    ///< of each client's slots
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

  /// Vectors of `length` doubles between the clients of `layout`, whose ranks are those of `world`. **Collective**
  /// unless all go as messages. Throws FailureError if they cannot go through windows and are to.
  Neighbours(World& world, const Layout& layout, std::size_t length, ExchangeWay way = ExchangeWay::messages);
  ~Neighbours();

  /// First client of this rank, and how many it hosts.
  [[nodiscard]] Client first() const;
  [[nodiscard]] std::size_t count() const;
  /// Doubles in a vector.
  [[nodiscard]] std::size_t length() const;
  /// Whether vectors that each sender has one of go through windows, where their receiver's rank is on the same host.
  [[nodiscard]] bool has_windows() const;
  /// What a user should know of how they go, the same on all ranks; empty if there is nothing to be said.
  [[nodiscard]] const std::string& note() const;

  /// Starts round t. False when a signal has asked the run to end before it; all ranks then end before the same round.
  [[nodiscard]] bool begin_round(Round t);

  /// Asks for the links of each local client once, in order; neighbours ascend, and none comes twice. Local; both ends
  /// of an edge must know of it. Messages over `lost` edges count as traffic, and that is all.
  [[nodiscard]] Plan plan(const LinksOf& links, PlanUse use, Parcels parcels = Parcels::per_sender);
  /// `links[k]` are those of client first() + k.
  [[nodiscard]] Plan plan(std::span<const Links> links, PlanUse use, Parcels parcels = Parcels::per_sender);
  /// The same plan, of a changing graph, for other links.
  void plan_again(Plan& plan, const LinksOf& links);
  void plan_again(Plan& plan, std::span<const Links> links);

  /// Where the vectors of the next exchange, which is to be of this plan, are written best: a block of at least as many
  /// columns as it sends. With windows nothing is copied from there, and this waits, as exchange() does, until all who
  /// have read the block before have finished; then what the last exchange has brought is gone.
  [[nodiscard]] Released<Columns>& outgoing(Round t, const Plan& plan);

  /// Sends column k of `outgoing` to the out-neighbours of client first() + k (per edge: a column each, in the order of
  /// clients and their `out`; there may be more columns, which are left alone) and waits for the vectors of all
  /// in-neighbours. Collective among neighbours only: no barrier. With windows, in which plans differ by exchange, all
  /// ranks that host clients take part in every one, be it with a plan without edges. Throws FailureError when a peer
  /// stays silent beyond the watchdog, PeerError when another rank has failed.
  void exchange(Round t, Plan& plan, const Released<Columns>& outgoing);

  /// What the last exchange has brought, which was of this plan, until the next.
  [[nodiscard]] Received received(const Plan& plan) const;
  /// After exchange(): what the last has brought is no longer read, so that with windows its senders need not wait
  /// until the next.
  void finish_reading();

  /// After the last exchange of *all* ranks, as a collective between tells: what it has brought is gone, and so is the
  /// block that outgoing() has given.
  void give_back_room();

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
