/// Peer-to-peer interface: vectors that clients send each other within rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "net/neighbours/exchange_way.hpp"
#include "net/traffic.hpp"
#include "net/world.hpp"

namespace starling {

/// Function that returns the links of local client k. The result is valid until the next call.
using LinksOf = std::function<const Links&(std::size_t k)>;

/// Use of a plan: for all rounds (worth setting up), for some rounds repeatedly, or for one round.
enum class PlanUse { fixed_graph, repeating_graph, changing_graph };

/// Whether a sender's vector is the same for all of its out-neighbours, or each edge has its own.
enum class Parcels { per_sender, per_edge };

/// Vectors of all in-neighbours after an exchange, by reference. Vectors of clients of this rank lie in the block that
/// they were sent from. All others lie in a buffer, or in the windows of their senders.
class Received {
 public:
  /// Vector of in-neighbour number i (in the order of `links[k].in`) of local client k.
  [[nodiscard]] View operator()(std::size_t k, std::size_t i) const { return {start(slots_[begin_[k] + i]), length_}; }

 private:
  friend class Neighbours;
  /// Start of a vector. Free of branches: whether a neighbour is of this rank is as good as random, so no processor
  /// could predict a branch.
  [[nodiscard]] const double* start(std::uint32_t slot) const {
    return blocks_[slot >> column_bits_] + (slot & ((std::uint32_t{1} << column_bits_) - 1)) * length_;
  }

  const double* const* blocks_ = nullptr;
  unsigned column_bits_ = 0;
  std::size_t length_ = 0;
  const std::uint32_t* slots_ = nullptr;  ///< per in-neighbour: a block, and the column in that block
  const std::size_t* begin_ = nullptr;    ///< per client: the first of its slots
};

class Neighbours {
 public:
  /// Exchange plan of a round for this rank: one message per neighbouring rank. The message carries each *sender's*
  /// vector once, or the vector of each edge. The protocol keeps the plan for as long as the links hold.
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

  /// Interface for vectors of `length` doubles between the clients of `layout`, whose ranks are those of `world`.
  /// **Collective** unless all vectors travel as messages. Throws FailureError if `way` demands windows and windows are
  /// impossible.
  Neighbours(World& world, const Layout& layout, std::size_t length, ExchangeWay way = ExchangeWay::messages);
  ~Neighbours();

  /// First client of this rank, and the number of its clients.
  [[nodiscard]] Client first() const;
  [[nodiscard]] std::size_t count() const;
  /// Doubles in a vector.
  [[nodiscard]] std::size_t length() const;
  /// Whether plans of one vector per sender use windows between ranks of the same host.
  [[nodiscard]] bool has_windows() const;
  /// Note on the transport for the user, the same on all ranks; empty if there is nothing to say.
  [[nodiscard]] const std::string& note() const;

  /// Starts round t. Returns false when a signal has asked the run to end before this round. All ranks then end before
  /// the same round.
  [[nodiscard]] bool begin_round(Round t);

  /// Plan for the given links. Calls `links` once for each local client, in order. Neighbours ascend, without
  /// duplicates. Local; both ends of an edge must have the edge in their links. Messages over `lost` edges count as
  /// traffic and are not sent.
  [[nodiscard]] Plan plan(const LinksOf& links, PlanUse use, Parcels parcels = Parcels::per_sender);
  /// Plan for links in a span: `links[k]` are the links of client first() + k.
  [[nodiscard]] Plan plan(std::span<const Links> links, PlanUse use, Parcels parcels = Parcels::per_sender);
  /// Changes a plan of a changing graph to other links.
  void plan_again(Plan& plan, const LinksOf& links);
  void plan_again(Plan& plan, std::span<const Links> links);

  /// Best block for writing the vectors of the next exchange, which must use this plan. The block has at least as many
  /// columns as the plan sends. With windows, nothing is copied from the block. This function, like exchange(), then
  /// waits until all earlier readers of the block have finished; the vectors of the last exchange are gone afterwards.
  [[nodiscard]] Released<Columns>& outgoing(Round t, const Plan& plan);

  /// Sends column k of `outgoing` to the out-neighbours of client first() + k, and waits for the vectors of all
  /// in-neighbours. Per edge, each edge has a column, in the order of clients and their `out`. Further columns are
  /// ignored. Collective among neighbours only: no barrier. With windows, plans may differ by exchange, and all ranks
  /// that host clients take part in every exchange, if need be with a plan without edges. Throws FailureError when a
  /// peer stays silent beyond the watchdog, PeerError when another rank has failed.
  void exchange(Round t, Plan& plan, const Released<Columns>& outgoing);

  /// Vectors of the last exchange, which must have used this plan. Valid until the next exchange.
  [[nodiscard]] Received received(const Plan& plan) const;
  /// Declares, after exchange(), that this rank no longer reads the vectors of the last exchange. With windows, the
  /// senders then need not wait until the next exchange.
  void finish_reading();

  /// Returns the memory of windows to the system. To be called after the last exchange of *all* ranks, which a
  /// collective must separate from this call. The vectors of the last exchange and the block of outgoing() are gone
  /// afterwards.
  void give_back_room();

  /// Selects, before the first plan, the senders whose messages are counted by edge. Messages of all other clients are
  /// counted together.
  void count_edges_of(const std::vector<Client>& senders);
  /// Traffic per edge whose sender is a client of this rank, ascending by (from, to); complete once the plans are gone.
  /// Edges beyond 2^20, and edges that are not counted one by one, share a last entry from −1 to −1.
  [[nodiscard]] std::vector<EdgeTraffic> edge_traffic() const;
  [[nodiscard]] WireTraffic wire_traffic() const;

  /// Adds the messages of this plan to the traffic, before persist().
  void count(Plan& plan);
  void persist(Snapshot& snapshot);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starling
