#include "connectivity.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace starling {

namespace {

std::uint64_t key_of(Client from, Client to) {
  return (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint64_t>(to);
}
Client from_of(std::uint64_t key) {
  return static_cast<Client>(key >> 32);
}
Client to_of(std::uint64_t key) {
  return static_cast<Client>(key & 0xffffffff);
}

std::vector<std::uint64_t> keys_of_phase(const Topology& topology, std::size_t phase) {
  std::vector<std::uint64_t> keys;
  const Adjacency& receivers = topology.receivers(phase);
  keys.reserve(receivers.peers.size());
  for (Client u = 0; u < topology.clients(); ++u) {
    for (const Client to : receivers.of(u)) keys.push_back(key_of(u, to));
  }
  return keys;
}

std::vector<std::uint64_t> distinct_keys(const Topology& topology) {
  std::vector<std::uint64_t> keys;
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    const auto more = keys_of_phase(topology, phase);
    keys.insert(keys.end(), more.begin(), more.end());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// Number of steps from `start` to the farthest client, breadth first; none if some client cannot be reached. Calls
/// visit_peers(u, visit) for each client, which calls visit(peer).
template <class VisitPeers>
std::optional<std::int64_t> steps_to_farthest(std::size_t clients, Client start, const VisitPeers& visit_peers) {
  std::vector<std::int64_t> steps(clients, -1);
  std::vector<Client> queue{start};
  queue.reserve(clients);
  steps[static_cast<std::size_t>(start)] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const Client u = queue[head];
    visit_peers(u, [&](Client peer) {
      std::int64_t& of_peer = steps[static_cast<std::size_t>(peer)];
      if (of_peer >= 0) return;
      of_peer = steps[static_cast<std::size_t>(u)] + 1;
      queue.push_back(peer);
    });
  }
  if (queue.size() < clients) return std::nullopt;
  return steps[static_cast<std::size_t>(queue.back())];
}

bool reaches_all(const Adjacency& adjacency, Client clients) {
  return steps_to_farthest(static_cast<std::size_t>(clients), 0,
                           [&](Client u, const auto& visit) {
                             for (const Client peer : adjacency.of(u)) visit(peer);
                           })
      .has_value();
}

}  // namespace

bool strongly_connected(const Topology& topology, std::size_t phase) {
  return reaches_all(topology.receivers(phase), topology.clients()) &&
         reaches_all(topology.senders(phase), topology.clients());
}

PhaseUnion::PhaseUnion(const Topology& topology) : clients_(static_cast<std::size_t>(topology.clients())) {
  const auto keys = distinct_keys(topology);
  present_.assign(keys.size(), 0);
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    auto& edges = edges_of_phase_.emplace_back();
    for (const std::uint64_t key : keys_of_phase(topology, phase)) {
      edges.push_back(static_cast<Index>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin()));
    }
  }
  forward_ = slots_of(keys, true);
  backward_ = slots_of(keys, false);
}

PhaseUnion::Slots PhaseUnion::slots_of(const std::vector<std::uint64_t>& keys, bool forward) const {
  const auto near_end = [&](std::uint64_t key) {
    return static_cast<std::size_t>(forward ? from_of(key) : to_of(key));
  };
  Slots result;
  result.first.assign(clients_ + 1, 0);
  for (const std::uint64_t key : keys) ++result.first[near_end(key) + 1];
  for (std::size_t u = 0; u < clients_; ++u) result.first[u + 1] += result.first[u];
  if (!forward) result.edges.resize(keys.size());
  result.far_ends.resize(keys.size());
  std::vector<Index> next(result.first.begin(), result.first.end() - 1);
  for (std::size_t edge = 0; edge < keys.size(); ++edge) {
    const std::size_t slot = next[near_end(keys[edge])]++;
    if (!forward) result.edges[slot] = static_cast<Index>(edge);
    result.far_ends[slot] = forward ? to_of(keys[edge]) : from_of(keys[edge]);
  }
  return result;
}

void PhaseUnion::count(std::size_t phase, int change) {
  for (const std::size_t edge : edges_of_phase_[phase]) present_[edge] += change;
}

std::optional<std::int64_t> PhaseUnion::eccentricity(const Slots& slots, Client start) const {
  return steps_to_farthest(clients_, start, [&](Client client, const auto& visit) {
    const auto u = static_cast<std::size_t>(client);
    for (std::size_t slot = slots.first[u]; slot < slots.first[u + 1]; ++slot) {
      if (present_[slots.edge(slot)] > 0) visit(slots.far_ends[slot]);
    }
  });
}

bool PhaseUnion::strongly_connected() const {
  return eccentricity(forward_, 0).has_value() && eccentricity(backward_, 0).has_value();
}

std::optional<std::int64_t> PhaseUnion::diameter() const {
  std::int64_t longest = 0;
  for (std::size_t u = 0; u < clients_; ++u) {
    const auto far = eccentricity(forward_, static_cast<Client>(u));
    if (!far) return std::nullopt;
    longest = std::max(longest, *far);
  }
  return longest;
}

std::optional<Round> joint_window(const Topology& topology) {
  if (topology.phases() == 1) return strongly_connected(topology, 0) ? std::optional<Round>(1) : std::nullopt;
  const std::size_t count = topology.phases();
  PhaseUnion window(topology);
  Round least = 1;
  Round rounds = 0;      // in the window's phases, first to last
  std::size_t size = 0;  // phases in the window
  for (std::size_t first = 0; first < count; ++first) {
    while (!window.strongly_connected()) {
      if (size == count) return std::nullopt;
      const std::size_t next = (first + size++) % count;
      window.add(next);
      rounds += topology.phase_rounds(next);
    }
    // The worst start is the first round of the first phase: all but the last phase must pass, and one round of that.
    const std::size_t last = (first + std::max<std::size_t>(size, 1) - 1) % count;
    if (size > 1) least = std::max(least, rounds - topology.phase_rounds(last) + 1);
    if (size > 0) {
      window.remove(first);
      rounds -= topology.phase_rounds(first);
      --size;
    }
  }
  return least;
}

bool Topology::ever_connects() const {
  if (strongly_connected(*this, 0)) return true;
  if (phases() == 1) return false;
  PhaseUnion all(*this);
  for (std::size_t phase = 0; phase < phases(); ++phase) all.add(phase);
  return all.strongly_connected();
}

std::string why_apart(const Topology& topology) {
  const std::vector<std::uint64_t> keys = distinct_keys(topology);
  std::vector<bool> has_edge(static_cast<std::size_t>(topology.clients()), false);
  bool one_way = true;
  for (const std::uint64_t key : keys) {
    has_edge[static_cast<std::size_t>(from_of(key))] = true;
    has_edge[static_cast<std::size_t>(to_of(key))] = true;
    one_way = one_way && !std::binary_search(keys.begin(), keys.end(), key_of(to_of(key), from_of(key)));
  }
  if (const auto alone = std::find(has_edge.begin(), has_edge.end(), false); alone != has_edge.end()) {
    const auto count = std::count(has_edge.begin(), has_edge.end(), false);
    return fmt::format(
        "clients would never agree, since client {}{} no edge to another. Add edges, or count clients from 0 without "
        "gaps.",
        alone - has_edge.begin(), count == 1 ? " has" : fmt::format(" and {} more have", count - 1));
  }
  if (!one_way) return "clients would never agree. Add edges.";
  return "clients would never agree, since every edge goes one way, and none back. Add edges in the other direction, "
         "as an undirected graph has them: NetworkX writes them of G.to_directed(), and SciPy of A + A.T.";
}

}  // namespace starling
