/// Reachability in a phase of a topology, and in the union of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/topology.hpp"

namespace starling {

/// Whether every client reaches every other one in this phase alone. Cost: two passes over the edges of the phase.
[[nodiscard]] bool strongly_connected(const Topology& topology, std::size_t phase);

/// The union of a changing set of phases, without self loops.
class PhaseUnion {
 public:
  explicit PhaseUnion(const Topology& topology);

  void add(std::size_t phase) { count(phase, 1); }
  void remove(std::size_t phase) { count(phase, -1); }

  /// Number of distinct edges over all phases of the topology, added or not.
  [[nodiscard]] std::size_t distinct_edges() const { return present_.size(); }
  [[nodiscard]] bool strongly_connected() const;
  /// Length of the longest shortest path; none if some client cannot be reached. Cost: clients × edges.
  [[nodiscard]] std::optional<std::int64_t> diameter() const;

 private:
  using Index = std::uint32_t;  ///< of an edge: a topology has less than 2^32 of them
  /// Edges by their near end. The edges of client u are at `first[u]` to before `first[u + 1]`.
  struct Slots {
    std::vector<Index> first;
    std::vector<Index> edges;  ///< empty if the edges are in order, as by sender
    std::vector<Client> far_ends;
    [[nodiscard]] Index edge(std::size_t slot) const { return edges.empty() ? static_cast<Index>(slot) : edges[slot]; }
  };
  void count(std::size_t phase, int change);
  /// Number of steps from `start` to the farthest client; none if some client cannot be reached.
  [[nodiscard]] std::optional<std::int64_t> eccentricity(const Slots& slots, Client start) const;
  [[nodiscard]] Slots slots_of(const std::vector<std::uint64_t>& keys, bool forward) const;

  std::size_t clients_;
  std::vector<int> present_;  ///< by edge: number of added phases that have it
  std::vector<std::vector<Index>> edges_of_phase_;
  Slots forward_;
  Slots backward_;
};

/// Least B such that every B consecutive rounds are jointly strongly connected; none if all rounds together are not.
[[nodiscard]] std::optional<Round> joint_window(const Topology& topology);

/// A message for a topology that never connects all clients: "clients would never agree, since WHY. REMEDY".
[[nodiscard]] std::string why_apart(const Topology& topology);

}  // namespace starling
