/// Adjacency lists of a digraph in compressed rows, small enough for a million clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/links.hpp"

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

}  // namespace starling
