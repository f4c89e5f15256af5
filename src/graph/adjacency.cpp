#include "graph/adjacency.hpp"

namespace starling {

Adjacency turned(const Adjacency& adjacency) {
  const std::size_t clients = adjacency.first.size() - 1;
  Adjacency result;
  result.first.assign(clients + 1, 0);
  for (const Client peer : adjacency.peers) ++result.first[static_cast<std::size_t>(peer) + 1];
  for (std::size_t u = 0; u < clients; ++u) result.first[u + 1] += result.first[u];
  result.peers.resize(adjacency.peers.size());
  result.weights.resize(adjacency.weights.size());
  std::vector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (std::size_t u = 0; u < clients; ++u) {  // ascending, and so come out the peers
    for (std::size_t k = adjacency.first[u]; k < adjacency.first[u + 1]; ++k) {
      const std::size_t slot = next[static_cast<std::size_t>(adjacency.peers[k])]++;
      result.peers[slot] = static_cast<Client>(u);
      if (!adjacency.weights.empty()) result.weights[slot] = adjacency.weights[k];
    }
  }
  return result;
}

std::vector<Arc> ArcView::arcs() const {
  std::vector<Arc> result;
  result.reserve(size());
  for (std::size_t k = 0; k < size(); ++k) result.push_back({peer(k), weight(k)});
  return result;
}

}  // namespace starling
