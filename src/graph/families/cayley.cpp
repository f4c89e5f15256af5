#include "cayley.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace starling {

namespace {

/// The cycles whose places divide one another, the largest first, among the neighbours of client 0 in all phases.
std::vector<Client> sides_by_neighbours(const Topology& topology) {
  std::set<Client, std::greater<>> neighbours{1};
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    const Topology::Row row = topology.row(phase, 0);
    neighbours.insert(row.out.peers.begin(), row.out.peers.end());
    neighbours.insert(row.in.peers.begin(), row.in.peers.end());
  }
  std::vector<Client> sides;
  Client place = topology.clients();
  for (const Client neighbour : neighbours) {
    if (place % neighbour != 0) continue;
    sides.push_back(place / neighbour);
    place = neighbour;
  }
  return sides;
}

std::vector<AbelianGroup> groups_to_try(const Topology& topology) {
  std::vector<AbelianGroup> groups{AbelianGroup({topology.clients()})};
  std::vector<Client> sides = sides_by_neighbours(topology);
  if (sides.size() > 1) groups.emplace_back(std::move(sides));
  return groups;
}

/// The arcs of client 0, moved to one client after the other.
class MovedArcs {
 public:
  MovedArcs(const AbelianGroup& group, const ArcView& first)
      : group_(group), client_(group.digits(0)), arcs_(first.arcs()) {
    for (const Arc& arc : arcs_) digits_.push_back(group.digits(arc.peer));
  }

  void next() {
    group_.count_up(client_, [this](std::size_t j) {
      for (std::size_t k = 0; k < arcs_.size(); ++k) turn(digits_[k][j], arcs_[k].peer, j);
    });
  }

  [[nodiscard]] bool are(const ArcView& arcs) {
    if (arcs.size() != arcs_.size()) return false;
    sorted_ = arcs_;
    std::sort(sorted_.begin(), sorted_.end(), [](const Arc& a, const Arc& b) { return a.peer < b.peer; });
    for (std::size_t k = 0; k < sorted_.size(); ++k) {
      if (sorted_[k] != Arc{arcs.peer(k), arcs.weight(k)}) return false;
    }
    return true;
  }

 private:
  void turn(Client& digit, Client& peer, std::size_t j) const {
    const Client side = group_.sides()[j];
    const Client change = digit + 1 < side ? 1 : 1 - side;
    digit += change;
    peer += change * group_.place(j);
  }

  const AbelianGroup& group_;
  std::vector<Client> client_;  ///< digits of
  std::vector<Arc> arcs_;
  std::vector<std::vector<Client>> digits_;  ///< of each arc's peer
  std::vector<Arc> sorted_;
};

/// Whether the rows of all clients are that of client 0, moved.
bool is_moved(const Topology& topology, std::size_t phase, const AbelianGroup& group) {
  const Topology::Row first = topology.row(phase, 0);
  MovedArcs moved(group, first.in);
  for (Client u = 1; u < topology.clients(); ++u) {
    moved.next();
    const Topology::Row row = topology.row(phase, u);
    if (row.own != first.own || !moved.are(row.in)) return false;
  }
  return true;
}

bool is_moved(const Topology& topology, const AbelianGroup& group) {
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    if (!is_moved(topology, phase, group)) return false;
  }
  return true;
}

/// Whether client 1 has as many arcs as client 0: a hub is told at once, before its many arcs are moved.
bool begins_alike(const Topology& topology) {
  for (std::size_t phase = 0; phase < topology.phases() && topology.clients() > 1; ++phase) {
    if (topology.row(phase, 0).in.size() != topology.row(phase, 1).in.size()) return false;
  }
  return true;
}

}  // namespace

Round CayleyGraph::period() const {
  Round rounds = 0;
  for (const Phase& phase : phases) rounds += phase.rounds;
  return rounds;
}

std::optional<CayleyGraph> as_cayley_graph(const Topology& topology) {
  if (!begins_alike(topology)) return std::nullopt;
  for (AbelianGroup& group : groups_to_try(topology)) {
    if (!is_moved(topology, group)) continue;
    CayleyGraph graph{std::move(group), {}};
    for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
      const Topology::Row first = topology.row(phase, 0);
      graph.phases.push_back({topology.phase_rounds(phase), first.own, first.in.arcs()});
    }
    return graph;
  }
  return std::nullopt;
}

}  // namespace starling
