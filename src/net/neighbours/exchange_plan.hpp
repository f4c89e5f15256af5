// Sends and receives of an exchange, per rank. Internal to the net module.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "core/memory/huge_pages.hpp"
#include "net/edge_counts.hpp"
#include "net/neighbours/neighbours.hpp"
#include "windows.hpp"

namespace starling {

/// One message between two ranks: vectors `offset` … `offset + count − 1` of the packing or receive buffer. Or the
/// vectors that pass between them through a window, without a buffer.
struct Transfer {
  int rank = 0;
  Client client = 0;  ///< the first whose vector it carries
  std::size_t offset = 0;
  std::size_t count = 0;
  bool in_place = false;  ///< sent from the outgoing block itself (its columns are adjacent there)
};

/// Buffers from which messages are sent, where columns are not adjacent, and into which they are received.
struct Buffers {
  BlockVector packed;
  BlockVector received;
  std::vector<std::vector<std::byte>> sealed;  ///< by request: messages on their way from and to ranks that seal them
};

struct Neighbours::Plan::State {
  enum Block : std::uint32_t { sent_block, received_block, first_window };

  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::vector<Transfer> readers;          ///< ranks that read this rank's window
  std::vector<Transfer> writers;          ///< ranks whose windows this one reads
  std::size_t columns = 0;                ///< of the outgoing block
  std::vector<std::size_t> sent_columns;  ///< of these, in the order of the sends
  /// Position of the vector of each in-neighbour of each local client: the number of one of `blocks`, then column_bits
  /// of its column there. The slots of client k begin at slot_begin[k].
  std::vector<std::uint32_t> slots;
  unsigned column_bits = 0;
  std::vector<std::size_t> slot_begin;
  std::vector<EdgeCounts::Edge> edges;  ///< over which this rank's clients send, if counted one by one
  std::int64_t other_edges = 0;         ///< number of edges that are counted together
  std::int64_t uses = 0;
  std::shared_ptr<EdgeCounts> counts;
  World::State* world = nullptr;
  std::shared_ptr<Buffers> buffers;       ///< of all plans, or of this one if its requests are bound
  std::shared_ptr<const void> sent_from;  ///< Neighbours' own block, if the last exchange was of it
  std::size_t buffered = 0;               ///< number of vectors received in the buffer
  /// Addresses of vectors in turns of either block: vectors that this rank sends, vectors that it has received, the
  /// windows of the writers.
  std::array<std::vector<const double*>, 2> blocks;
  const Windows* windows = nullptr;   ///< windows that vectors pass through; null if none
  std::size_t last_block = 0;         ///< block of the last exchange
  std::vector<MPI_Request> requests;  ///< receives first, then sends
  /// The transfer that each request is of, receives first; empty: each request is a transfer of its own.
  std::vector<std::size_t> owners;
  Parcels parcels = Parcels::per_sender;
  bool persistent = false;
  const double* bound_to = nullptr;  ///< outgoing block that the persistent sends read

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  /// Lays out the exchange for these links.
  void lay_out(const LinksOf& links, const Layout& layout, int rank, std::size_t length);
  /// Enlarges the buffers before an exchange to the size that it needs. The links are no longer valid then.
  void make_room(std::size_t length);
  void count_uses();
  void free_requests();
  /// Frees the memory that only another layout would need.
  void drop_scratch();

 private:
  /// A vector that leaves in a message to another rank, identified by its ends. `to` is −1 where it serves all
  /// receivers of that rank.
  struct Crossing {
    int rank;
    Client from;
    Client to;
    std::size_t column;  ///< of the outgoing block
  };
  void add_reader(int rank, const Layout& layout);
  void add_coming(std::uint64_t key);
  void add_out_edges(const Links& links, const Layout& layout, int rank, Client u, std::size_t k);
  void add_in_edges(const Links& links, const Layout& layout, int rank, Client u);
  void place_sends(const Layout& layout);
  void place_receives(const Layout& layout, int rank);
  void add_receive(std::size_t vector, Client from, const Layout& layout);
  void place_slots(const Layout& layout, Client first);
  [[nodiscard]] std::uint32_t slot_of(Client from, Client to, const Layout& layout) const;
  [[nodiscard]] std::size_t local_column(std::size_t k, Client to) const;
  /// What comes from one rank lies together, messages first; where each edge has its own vector, by its ends.
  [[nodiscard]] std::uint64_t key(Client from, Client to, const Layout& layout) const;
  [[nodiscard]] static Client sender(std::uint64_t key);
  [[nodiscard]] bool through_window(int rank) const { return windows != nullptr && windows->shares_with(rank); }
  [[nodiscard]] bool has_parcels_per_edge() const { return parcels == Parcels::per_edge; }

  // Reused from one layout to the next.
  std::vector<Crossing> leaving_;
  std::vector<std::uint64_t> coming_;      ///< keys of the vectors that come from other ranks
  std::vector<std::size_t> column_begin_;  ///< per edge: the first outgoing column of client k
  std::vector<Client> column_to_;          ///< likewise: receiver of a column
};

}  // namespace starling
