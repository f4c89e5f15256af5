// Paths as circles of twice as many clients.
#include "cayley.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace starling {

namespace {

/// What a client keeps is what is left after the others, so that ends come near and not to the last bit.
constexpr double rounding = 1e-15;

/// A row of a path of n clients, known from its middle, at any client.
class FoldedRow {
 public:
  FoldedRow(const Topology::Row& middle, Client client, Client n) : n_(n) {
    entries_.push_back({0, middle.own});
    for (std::size_t k = 0; k < middle.in.size(); ++k) {
      entries_.push_back({middle.in.peer(k) - client, middle.in.weight(k)});
    }
    std::sort(entries_.begin(), entries_.end(), before);
  }

  /// Whether as much comes from one side as from the other.
  [[nodiscard]] bool is_even() const {
    return std::equal(entries_.begin(), entries_.end(), entries_.rbegin(),
                      [](const Arc& a, const Arc& b) { return a.peer == -b.peer && a.weight == b.weight; });
  }

  /// Whether this is the row of a client, with what would come from beyond an end folded back.
  [[nodiscard]] bool is(const Topology::Row& row, Client client) {
    fold_at(client);
    std::size_t arc = 0;
    for (const Arc& entry : folded_) {
      if (entry.peer == client) {
        if (std::abs(entry.weight - row.own) > rounding) return false;
        continue;
      }
      if (arc == row.in.size() || row.in.peer(arc) != entry.peer) return false;
      if (std::abs(entry.weight - row.in.weight(arc++)) > rounding) return false;
    }
    return arc == row.in.size();
  }

  [[nodiscard]] CayleyGraph::Phase on_circle(Round rounds) const {
    CayleyGraph::Phase phase{rounds, 0, {}};
    for (const Arc& entry : entries_) {
      if (entry.peer == 0) {
        phase.own = entry.weight;
      } else {
        phase.in.push_back({(entry.peer + 2 * n_) % (2 * n_), entry.weight});
      }
    }
    return phase;
  }

 private:
  static bool before(const Arc& a, const Arc& b) { return a.peer < b.peer; }

  void fold_at(Client client) {
    folded_.clear();
    for (const Arc& entry : entries_) {
      const Client place = client + entry.peer;
      folded_.push_back({place < 0 ? -1 - place : std::min(place, 2 * n_ - 1 - place), entry.weight});
    }
    std::sort(folded_.begin(), folded_.end(), before);
    std::size_t last = 0;
    for (std::size_t k = 1; k < folded_.size(); ++k) {
      if (folded_[k].peer == folded_[last].peer) {
        folded_[last].weight += folded_[k].weight;
      } else {
        folded_[++last] = folded_[k];
      }
    }
    folded_.resize(last + 1);
  }

  Client n_;
  std::vector<Arc> entries_;  ///< of the middle, by distance
  std::vector<Arc> folded_;
};

std::optional<CayleyGraph::Phase> unfolded(const Topology& topology, std::size_t phase) {
  const Client n = topology.clients();
  FoldedRow row(topology.row(phase, n / 2), n / 2, n);
  if (!row.is_even()) return std::nullopt;
  for (Client u = 0; u < n; ++u) {
    if (!row.is(topology.row(phase, u), u)) return std::nullopt;
  }
  return row.on_circle(topology.phase_rounds(phase));
}

}  // namespace

std::optional<CayleyGraph> as_folded_circle(const Topology& topology) {
  CayleyGraph circle{AbelianGroup({2 * topology.clients()}), {}};
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    auto found = unfolded(topology, phase);
    if (!found) return std::nullopt;
    circle.phases.push_back(*std::move(found));
  }
  return circle;
}

}  // namespace starling
