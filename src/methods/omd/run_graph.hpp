/// The graph of a run of `starling omd`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "graph/schedule.hpp"

namespace starling {

class Graph;
class GraphOfSome;
struct OmdConfig;

/// The clients of a run over a graph.
struct GraphClients {
  const Membership& members;
  const std::string& rewired;  ///< spec of the graph of those that are there; empty for that of all, without the lost
  Client at_first = 0;         ///< number of clients with which the run began
  Client now = 0;              ///< number of clients, with those that are lost
};

/// The graph of the clients that are there, with absences, departures and losses (its schedule). Of a run whose clients
/// have changed there is also the graph of those with which it began.
class RunGraph {
 public:
  /// `topology` is the graph of --topology; null without it. Chooses the exchanges of a round (--gossip-steps) if a
  /// rule is to. Adds notes. Keeps references. Throws UsageError for a graph over which the clients cannot mix.
  RunGraph(OmdConfig& config, const GraphClients& clients, std::unique_ptr<Graph> topology,
           std::vector<std::string>& notes);

  ~RunGraph();

  [[nodiscard]] Schedule& schedule() { return *schedule_; }
  /// The graph of all clients, without absences and losses.
  [[nodiscard]] std::unique_ptr<Graph> base() const;
  [[nodiscard]] const std::string& digest() const { return digest_; }
  /// Digest of the schedule of the clients with which the run began.
  [[nodiscard]] const std::string& digest_at_first() const { return digest_at_first_; }
  /// The schedule of these clients, to be used before forget_schedule_at_first().
  [[nodiscard]] const Schedule& schedule_at_first() const { return at_first_ ? *at_first_ : *schedule_; }
  void forget_schedule_at_first() { at_first_.reset(); }
  /// Whether every client has a mass of 1 in every round of that schedule.
  [[nodiscard]] bool even_masses_at_first() const { return even_masses_at_first_; }
  /// Makes the schedule anew, for another number of exchanges a round.
  void make_schedule();
  /// The graph of a family that --rewire has named, for the clients that are there. Throws UsageError if it does not
  /// connect them.
  [[nodiscard]] std::unique_ptr<GraphOfSome> rewired() const;
  /// Factor by which an exchange shrinks a disagreement between clients in the long run; none where that is not known.
  [[nodiscard]] std::optional<double> contraction() const {
    return clients_.members.has_changed() ? std::nullopt : contraction_at_first_;
  }
  /// The same for the clients with which the run began.
  [[nodiscard]] std::optional<double> contraction_at_first() const { return contraction_at_first_; }
  /// A note on a run with fewer exchanges than the graph needs to connect all clients; empty for others.
  [[nodiscard]] std::string note_on_length(Round exchanges) const;

 private:
  void make_schedule(std::unique_ptr<Graph> graph);
  [[nodiscard]] std::unique_ptr<Schedule> schedule_of_present() const;
  void check_graph(const Graph& graph, std::vector<std::string>& notes);

  OmdConfig& config_;
  GraphClients clients_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Schedule> at_first_;  ///< of a run whose clients have changed
  std::string digest_;
  std::string digest_at_first_;
  std::optional<Round> joint_window_;  ///< of the graph, where the run may be shorter
  std::optional<double> contraction_at_first_;
  bool even_masses_at_first_ = false;
};

}  // namespace starling
