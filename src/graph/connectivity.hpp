/// Reachability in the union of some phases of a topology.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "starling/graph/topology.hpp"

namespace starling {

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
  /// Edges by their near end: those of client u are `edges[first[u]]` to before `edges[first[u + 1]]`.
  struct Adjacency {
    std::vector<std::size_t> first;
    std::vector<std::size_t> edges;
    std::vector<Client> far_ends;
  };
  void count(std::size_t phase, int change);
  /// Steps to the farthest client from `start`; none where some client cannot be reached.
  [[nodiscard]] std::optional<std::int64_t> eccentricity(const Adjacency& adjacency, Client start) const;
  [[nodiscard]] Adjacency adjacency(const std::vector<std::uint64_t>& keys, bool forward) const;

  std::size_t clients_;
  std::vector<int> present_;  ///< by edge: in how many of the added phases
  std::vector<std::vector<std::size_t>> edges_of_phase_;
  Adjacency forward_;
  Adjacency backward_;
};

/// Least B such that every B consecutive rounds are jointly strongly connected; none if all rounds together are not.
[[nodiscard]] std::optional<Round> joint_window(const Topology& topology);

}  // namespace starling
