// Number of messages per edge. Internal to the net module.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/snapshot.hpp"
#include "net/traffic.hpp"

namespace starling {

/// Message counts of the edges whose sender is a client of this rank. Edges beyond `most_edges` different ones (graphs
/// that never repeat), and edges of senders that were not selected, are counted together.
class EdgeCounts {
 public:
  static constexpr std::size_t most_edges = std::size_t{1} << 20;
  using Edge = std::pair<Client, Client>;  ///< from, to

  /// Restricts counting edge by edge to the edges of these senders.
  void only_of(std::vector<Client> senders);
  [[nodiscard]] bool counts(Client from) const;

  /// Adds `messages` messages to each of the edges, which may come in any order, and `others` messages to the edges
  /// that are counted together.
  void add(const std::vector<Edge>& edges, std::int64_t messages, std::int64_t others = 0);
  /// Traffic per edge, ascending by (from, to). A last entry with both ends −1 holds the other edges, if there are any.
  [[nodiscard]] std::vector<EdgeTraffic> list(std::int64_t bytes_per_message) const;
  void persist(Snapshot& snapshot);

 private:
  struct Count {
    Edge edge;
    std::int64_t messages = 0;
    void persist(Snapshot& snapshot) { snapshot(edge, messages); }
  };

  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const {
      return std::hash<std::uint64_t>{}(
          (static_cast<std::uint64_t>(edge.first) << 32 ^ static_cast<std::uint64_t>(edge.second)) *
          0x9e3779b97f4a7c15U);
    }
  };
  /// Merges `added` into `known`. Both ascend, and no edge is in both.
  static void merge(std::vector<Count>& known, const std::vector<Count>& added);
  /// The content of `recent_`, ascending.
  [[nodiscard]] std::vector<Count> recent() const;

  std::optional<std::vector<Client>> senders_;  ///< ascending; none: all
  std::vector<Count> known_;                    ///< ascending by edge
  /// Counts of other edges, until they suffice for a merge, whose time is proportional to the number of known edges.
  std::unordered_map<Edge, std::int64_t, EdgeHash> recent_;
  std::int64_t others_ = 0;
};

}  // namespace starling
