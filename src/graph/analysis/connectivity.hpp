/// Reachability in a phase of a topology, and in the union of several.
#pragma once

#include "graph/families/cayley.hpp"
#include <cstdint>
#include <optional>
#include <vector>

#include "starling/graph/topology.hpp"

namespace starling {

/// Whether every client reaches every other in this phase alone. Costs a pass over its edges, and five bytes a client.
[[nodiscard]] bool strongly_connected(const Topology& topology, std::size_t phase);

/// The union of a set of phases, to which phases are added and from which they are taken; self loops do not matter.
class PhaseUnion {
 public:
  explicit PhaseUnion(const Topology& topology);

  void add(std::size_t phase) { count(phase, 1); }
  void remove(std::size_t phase) { count(phase, -1); }

  /// Distinct edges over all phases of the topology, added or not.
  [[nodiscard]] std::size_t distinct_edges() const { return present_.size(); }
  [[nodiscard]] bool strongly_connected() const;
  /// Longest shortest path; none where some client cannot be reached. Costs clients × edges.
  [[nodiscard]] std::optional<std::int64_t> diameter() const;

 private:
  using Index = std::uint32_t;  ///< of an edge: a topology has less than 2^32 of them
  /// Edges by their near end: those of client u are at `first[u]` to before `first[u + 1]`.
  struct Slots {
    std::vector<Index> first;
    std::vector<Index> edges;  ///< empty where they are in order, as by sender
    std::vector<Client> far_ends;
    [[nodiscard]] Index edge(std::size_t slot) const { return edges.empty() ? static_cast<Index>(slot) : edges[slot]; }
  };
  void count(std::size_t phase, int change);
  /// Steps to the farthest client from `start`; none where some client cannot be reached.
  [[nodiscard]] std::optional<std::int64_t> eccentricity(const Slots& slots, Client start) const;
  [[nodiscard]] Slots slots_of(const std::vector<std::uint64_t>& keys, bool forward) const;

  std::size_t clients_;
  std::vector<int> present_;  ///< by edge: in how many of the added phases
  std::vector<std::vector<Index>> edges_of_phase_;
  Slots forward_;
  Slots backward_;
};

/// Least B such that every B consecutive rounds are jointly strongly connected; none if all rounds together are not.
[[nodiscard]] std::optional<Round> joint_window(const Topology& topology);

/// The same of a topology that is the same seen from every client, from its hops alone: they lead everywhere if they
/// generate its group.
[[nodiscard]] bool strongly_connected(const CayleyGraph& graph, std::size_t phase);
[[nodiscard]] std::optional<Round> joint_window(const CayleyGraph& graph);
/// Edges over all phases, those that several have counted once.
[[nodiscard]] std::int64_t distinct_edges(const CayleyGraph& graph);

}  // namespace starling
