#include "connectivity.hpp"

#include <algorithm>

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
  for (Client u = 0; u < topology.clients(); ++u) {
    for (const Arc& arc : topology.phase_links(phase, u).out) keys.push_back(key_of(u, arc.peer));
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

}  // namespace

PhaseUnion::PhaseUnion(const Topology& topology) : clients_(static_cast<std::size_t>(topology.clients())) {
  const auto keys = distinct_keys(topology);
  present_.assign(keys.size(), 0);
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    auto& edges = edges_of_phase_.emplace_back();
    for (const std::uint64_t key : keys_of_phase(topology, phase)) {
      edges.push_back(static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin()));
    }
  }
  forward_ = adjacency(keys, true);
  backward_ = adjacency(keys, false);
}

PhaseUnion::Adjacency PhaseUnion::adjacency(const std::vector<std::uint64_t>& keys, bool forward) const {
  const auto near_end = [&](std::uint64_t key) {
    return static_cast<std::size_t>(forward ? from_of(key) : to_of(key));
  };
  Adjacency result;
  result.first.assign(clients_ + 1, 0);
  for (const std::uint64_t key : keys) ++result.first[near_end(key) + 1];
  for (std::size_t u = 0; u < clients_; ++u) result.first[u + 1] += result.first[u];
  result.edges.resize(keys.size());
  result.far_ends.resize(keys.size());
  std::vector<std::size_t> next(result.first.begin(), result.first.end() - 1);
  for (std::size_t edge = 0; edge < keys.size(); ++edge) {
    const std::size_t slot = next[near_end(keys[edge])]++;
    result.edges[slot] = edge;
    result.far_ends[slot] = forward ? to_of(keys[edge]) : from_of(keys[edge]);
  }
  return result;
}

void PhaseUnion::count(std::size_t phase, int change) {
  for (const std::size_t edge : edges_of_phase_[phase]) present_[edge] += change;
}

std::optional<std::int64_t> PhaseUnion::eccentricity(const Adjacency& adjacency, Client start) const {
  std::vector<std::int64_t> steps(clients_, -1);
  std::vector<Client> queue{start};
  queue.reserve(clients_);
  steps[static_cast<std::size_t>(start)] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto u = static_cast<std::size_t>(queue[head]);
    for (std::size_t slot = adjacency.first[u]; slot < adjacency.first[u + 1]; ++slot) {
      const auto v = static_cast<std::size_t>(adjacency.far_ends[slot]);
      if (present_[adjacency.edges[slot]] == 0 || steps[v] >= 0) continue;
      steps[v] = steps[u] + 1;
      queue.push_back(adjacency.far_ends[slot]);
    }
  }
  if (queue.size() < clients_) return std::nullopt;
  return steps[static_cast<std::size_t>(queue.back())];
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
  const std::size_t count = topology.phases();
  PhaseUnion window(topology);
  Round least = 1;
  Round rounds = 0;      // of the window's phases, first to last
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
  PhaseUnion all(*this);
  for (std::size_t phase = 0; phase < phases(); ++phase) all.add(phase);
  return all.strongly_connected();
}

}  // namespace starling
