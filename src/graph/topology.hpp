/// Topology files (`.topo`) and the schedules that they describe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/links.hpp"
#include "core/text/spec.hpp"
#include "graph/graph.hpp"

namespace starling {

/// One direction of a digraph. The peers of client u are `peers[first[u]]` to before `peers[first[u + 1]]`, ascending.
struct Adjacency {
  std::vector<std::uint32_t> first;
  std::vector<Client> peers;
  std::vector<double> weights;  ///< one for each peer; empty if weights follow from a rule

  [[nodiscard]] std::size_t degree(Client u) const {
    return first[static_cast<std::size_t>(u) + 1] - first[static_cast<std::size_t>(u)];
  }
  [[nodiscard]] std::span<const Client> of(Client u) const {
    return {peers.data() + first[static_cast<std::size_t>(u)], degree(u)};
  }
};

/// The other direction of the same digraph.
[[nodiscard]] Adjacency turned(const Adjacency& adjacency);

/// A view of the outgoing or incoming arcs of one client, without a copy. Weights stand by arc, or by peer, or one
/// weight holds for all arcs.
struct ArcView {
  std::span<const Client> peers;
  const double* of_arcs = nullptr;
  const double* of_peers = nullptr;  ///< indexed by client
  double of_all = 0;

  [[nodiscard]] std::size_t size() const { return peers.size(); }
  [[nodiscard]] Client peer(std::size_t k) const { return peers[k]; }
  [[nodiscard]] double weight(std::size_t k) const {
    if (of_arcs != nullptr) return of_arcs[k];
    return of_peers != nullptr ? of_peers[static_cast<std::size_t>(peers[k])] : of_all;
  }
  /// The arcs as a list.
  [[nodiscard]] std::vector<Arc> arcs() const;
};

/// Tolerance of sums of one.
inline constexpr double sum_tolerance = 1e-9;
/// Largest number of clients of a topology.
inline constexpr Client max_clients = 10'000'000;
/// Longest phase, in rounds.
inline constexpr Round max_phase_rounds = 1'000'000'000;

struct Edge {
  Client from = 0;
  Client to = 0;
  double weight = 0;      ///< used under `explicit_weights` only; an edge of weight 0 is no edge
  std::int64_t line = 0;  ///< line of the file, for errors; 0 without a file
};

/// A table of edges: a sequence of digraphs, each for `rounds` rounds, repeated for ever.
class Topology final : public Graph {
 public:
  struct Phase {
    Round rounds = 1;
    std::vector<Edge> edges;  ///< edges of this phase alone; self loops under explicit weights only
  };

  /// `everywhere`: the edges that are in every phase. Without phases there is one phase of one round. `name` appears in
  /// errors.
  /// Throws UsageError for clients out of range, weights that are negative or not finite, repeated edges, self loops
  /// under a rule that implies them, phases of no rounds, metropolis on a graph that is not symmetric, and for sizes
  /// beyond what fits in memory (10^7 clients, 2·10^7 clients × phases, 3·10^7 edges summed over phases).
  Topology(Client clients, WeightRule rule, const std::vector<Edge>& everywhere, const std::vector<Phase>& phases,
           const std::string& name = "topology");

  /// Parses the text of a `.topo` file. Errors begin "name:line: …". Throws UsageError, also for a graph that never
  /// repeats; parse_graph reads such graphs.
  [[nodiscard]] static Topology parse(std::string_view text, const std::string& name);
  /// Parses a MatrixMarket file (coordinate or array; real, integer or pattern; general or symmetric). Entry
  /// (i, j) is the weight from j to i, clients counted from 1. Explicit weights; a pattern has sender weights and
  /// implied self loops.
  [[nodiscard]] static Topology parse_matrix_market(std::string_view text, const std::string& name);
  /// Parses a plain edge list as NetworkX writes it, with clients from 0: `FROM TO WEIGHT` or
  /// `FROM TO {'weight': WEIGHT, …}` (explicit weights), `FROM TO` or `FROM TO {}` (sender weights and implied self
  /// loops); commas may stand for blanks. Every line is an edge in one direction. The largest client number determines
  /// the number of clients.
  [[nodiscard]] static Topology parse_edge_list(std::string_view text, const std::string& name);
  /// Reads a file. Its ending tells the format: MatrixMarket (.mtx), edge list (.edges, .edgelist, .txt), otherwise
  /// `.topo`. Throws UsageError, also for an unreadable file.
  [[nodiscard]] static Topology read(const std::string& path);

  [[nodiscard]] Client clients() const override { return clients_; }
  [[nodiscard]] Round period() const override { return period_; }
  /// Throws UsageError for a client out of range or a negative round.
  [[nodiscard]] Links links(Client u, Round t) const override;
  /// Frees all rows. Links, digest and text then throw std::logic_error.
  void forget_links() override { phases_ = std::vector<Mixing>(); }

  [[nodiscard]] WeightRule rule() const override { return rule_; }
  [[nodiscard]] std::size_t phases() const { return phases_.size(); }
  [[nodiscard]] Round phase_rounds(std::size_t phase) const { return phases_[phase].rounds; }
  /// Links of client u in a phase.
  [[nodiscard]] Links phase_links(std::size_t phase, Client u) const;
  /// A row without a copy; valid as long as the topology.
  struct Row {
    double own = 1;
    ArcView out;
    ArcView in;
  };
  [[nodiscard]] Row row(std::size_t phase, Client u) const;
  /// Receivers of each sender in a phase, without self loops.
  [[nodiscard]] const Adjacency& receivers(std::size_t phase) const { return phases_[phase].out; }
  /// Senders to each receiver in a phase, without self loops.
  [[nodiscard]] const Adjacency& senders(std::size_t phase) const {
    return rule_ == WeightRule::metropolis ? phases_[phase].out : phases_[phase].in;
  }

  [[nodiscard]] std::string text() const override;
  /// SHA-256 of the meaning (clients, phases, weights), not of the file's text.
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] bool ever_connects() const override;
  void require_sender_sums() const override;
  void require_receiver_sums() const override;
  [[nodiscard]] Round telling_rounds() const override { return period_; }

 private:
  struct Mixing {
    Round start = 0;  ///< first round of the phase within the period
    Round rounds = 1;
    std::vector<double> own;  ///< by client
    Adjacency out;
    Adjacency in;  ///< empty under `metropolis`, whose graphs are symmetric
  };
  friend Topology written_out(const Schedule& schedule, Round rounds, WeightRule rule);
  Topology(Client clients, WeightRule rule) : clients_(clients), rule_(rule) {}
  void require_links() const;
  /// Adds a phase of `rounds` rounds. `own` and the weights of `out` are used under `explicit_weights` only.
  void add_phase(Round rounds, std::vector<double> own, Adjacency out);

  Client clients_ = 0;
  WeightRule rule_ = WeightRule::sender;
  Round period_ = 0;
  std::vector<Mixing> phases_;
};

/// Topology families, by name ("ring", "one-peer-exponential", …): for `topology make` and `generate` lines.
/// The maker's arguments are the number of clients and the weight rule.
using TopologyTable = Table<Graph, Client, WeightRule>;
[[nodiscard]] const TopologyTable& topology_table();

/// The first rounds of a schedule as a table, one phase for each round: the part of an endless graph that can be
/// analysed and drawn. Lost edges are left out. Weights are explicit, or follow a rule that the schedule's links obey.
/// Throws UsageError for sizes beyond the limits of a topology.
[[nodiscard]] Topology written_out(const Schedule& schedule, Round rounds,
                                   WeightRule rule = WeightRule::explicit_weights);

/// The graph with the rows of one period as a table. `name` appears in errors. Throws UsageError for a graph that never
/// repeats, and for sizes beyond the limits of a topology.
[[nodiscard]] Topology topology_of(const Graph& graph, const std::string& name = "topology");

/// Sum of a client's column of A: the shares that the client sends and keeps in a round.
[[nodiscard]] double sender_sum(const Links& links);
[[nodiscard]] double sender_sum(const Topology::Row& row);
/// Sum of a client's row of A: the shares that the client receives and keeps in a round.
[[nodiscard]] double receiver_sum(const Links& links);
[[nodiscard]] double receiver_sum(const Topology::Row& row);

}  // namespace starling
