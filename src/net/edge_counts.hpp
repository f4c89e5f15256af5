// How many messages went over each edge. Internal to the net room.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/net/traffic.hpp"

namespace starling {

/// Messages over each edge whose sender lives here. Beyond `most_edges` different ones (graphs that never repeat), and
/// of senders that nobody asks about, the rest are counted together.
class EdgeCounts {
 public:
  static constexpr std::size_t most_edges = std::size_t{1} << 20;
  using Edge = std::pair<Client, Client>;  ///< from, to

  /// Counts one by one the edges of these senders alone.
  void only_of(std::vector<Client> senders);
  [[nodiscard]] bool counts(Client from) const;

  /// So many messages over each of the edges, which may be given in any order, and `others` of those that are not
  /// counted one by one.
  void add(const std::vector<Edge>& edges, std::int64_t messages, std::int64_t others = 0);
  /// Ascending by (from, to); the rest, if there is one, last and with both ends −1.
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
  /// Merges into `known` what is ascending too and not in it.
  static void merge(std::vector<Count>& known, const std::vector<Count>& added);
  /// What is in `recent_`, ascending.
  [[nodiscard]] std::vector<Count> recent() const;

  std::optional<std::vector<Client>> senders_;  ///< ascending; none: all
  std::vector<Count> known_;                    ///< ascending by edge
  /// Others, until they are enough for a merge, which takes as long as all that are known.
  std::unordered_map<Edge, std::int64_t, EdgeHash> recent_;
  std::int64_t others_ = 0;
};

}  // namespace starling
