// Families whose rows follow from a client's number. Each is the one of the same name in families.cpp, which makes all
// edges of it and says what it is.
#include "families.hpp"
#include "indexed.hpp"
#include <algorithm>
#include <bit>
#include <cmath>

namespace starling {

namespace {

using MadeGraph = std::unique_ptr<Graph>;

/// Checked; all makers end with it.
template <class Family, class... Arguments>
MadeGraph made(Arguments&&... arguments) {
  auto graph = std::make_unique<Family>(std::forward<Arguments>(arguments)...);
  graph->require_symmetry();
  return graph;
}

std::vector<Client> sorted(std::vector<Client> peers) {
  std::sort(peers.begin(), peers.end());
  return peers;
}

/// u sends to u + h for some hops h along a circle of all clients.
class Hops final : public IndexedGraph {
 public:
  /// Hops are different, from 1 to n − 1. All of them in every round, or one after the other.
  enum class When { together, in_turn };
  Hops(Client n, WeightRule rule, std::string spec, std::vector<Client> hops, When when)
      : IndexedGraph(n, rule, when == When::in_turn ? std::max<Round>(1, static_cast<Round>(hops.size())) : 1,
                     std::move(spec)),
        hops_(std::move(hops)),
        when_(when) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round t) const override { return places(u, t, 1); }
  [[nodiscard]] std::vector<Client> senders(Client u, Round t) const override { return places(u, t, -1); }
  [[nodiscard]] std::size_t degree(Client) const override {
    return when_ == When::in_turn ? std::min<std::size_t>(1, hops_.size()) : hops_.size();
  }
  [[nodiscard]] std::vector<Client> places(Client u, Round t, Client direction) const {
    const auto place = [&](Client hop) { return (u + (direction > 0 ? hop : clients() - hop)) % clients(); };
    std::vector<Client> peers;
    if (when_ == When::in_turn && !hops_.empty()) return {place(hops_[static_cast<std::size_t>(t)])};
    peers.reserve(hops_.size());
    for (const Client hop : hops_) peers.push_back(place(hop));
    return sorted(std::move(peers));
  }
  std::vector<Client> hops_;
  When when_;
};

/// Hops 1, 2, 4, … below n.
std::vector<Client> powers_of_two_below(Client n) {
  std::vector<Client> hops;
  for (std::int64_t hop = 1; hop < n; hop *= 2) hops.push_back(static_cast<Client>(hop));
  return hops;
}

MadeGraph rows_of_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Client> hops;
  if (n > 1) hops.push_back(1);
  if (n > 2) hops.push_back(n - 1);
  return made<Hops>(n, rule, spec.text(), std::move(hops), Hops::When::together);
}

MadeGraph rows_of_directed_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Client> hops;
  if (n > 1) hops.push_back(1);
  return made<Hops>(n, rule, spec.text(), std::move(hops), Hops::When::together);
}

MadeGraph rows_of_exponential(const Spec& spec, Client n, WeightRule rule) {
  return made<Hops>(n, rule, spec.text(), powers_of_two_below(n), Hops::When::together);
}

MadeGraph rows_of_one_peer_exponential(const Spec& spec, Client n, WeightRule rule) {
  return made<Hops>(n, rule, spec.text(), powers_of_two_below(n), Hops::When::in_turn);
}

class Star final : public IndexedGraph {
 public:
  Star(Client n, WeightRule rule, std::string spec) : IndexedGraph(n, rule, 1, std::move(spec)) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round) const override {
    if (u > 0) return {0};
    std::vector<Client> all;
    for (Client v = 1; v < clients(); ++v) all.push_back(v);
    return all;
  }
  [[nodiscard]] std::size_t degree(Client u) const override {
    return u > 0 ? 1 : static_cast<std::size_t>(clients() - 1);
  }
};

MadeGraph rows_of_star(const Spec& spec, Client n, WeightRule rule) {
  return made<Star>(n, rule, spec.text());
}

/// Rows and columns of clients as paths, or closed to circles (a side of two has one edge either way).
class Lattice final : public IndexedGraph {
 public:
  enum class Sides { open, closed };
  Lattice(Client n, WeightRule rule, std::string spec, families::Lattice sides, Sides kind)
      : IndexedGraph(n, rule, 1, std::move(spec)), sides_(sides), kind_(kind) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round) const override {
    const Client row = u / sides_.columns;
    const Client column = u % sides_.columns;
    std::vector<Client> peers;
    for (const Client near : beside(column, sides_.columns)) peers.push_back(row * sides_.columns + near);
    for (const Client near : beside(row, sides_.rows)) peers.push_back(near * sides_.columns + column);
    return sorted(std::move(peers));
  }
  [[nodiscard]] std::size_t degree(Client u) const override {
    return count_beside(u % sides_.columns, sides_.columns) + count_beside(u / sides_.columns, sides_.rows);
  }
  [[nodiscard]] bool closed(Client side) const { return kind_ == Sides::closed && side > 2; }
  [[nodiscard]] bool has_next(Client at, Client side) const { return at + 1 < side || closed(side); }
  [[nodiscard]] bool has_previous(Client at, Client side) const { return at > 0 || closed(side); }
  [[nodiscard]] std::size_t count_beside(Client at, Client side) const {
    return (has_next(at, side) ? 1U : 0U) + (has_previous(at, side) ? 1U : 0U);
  }
  /// Places next to one on a side.
  [[nodiscard]] std::vector<Client> beside(Client at, Client side) const {
    std::vector<Client> near;
    if (has_next(at, side)) near.push_back((at + 1) % side);
    if (has_previous(at, side)) near.push_back((at + side - 1) % side);
    return near;
  }
  families::Lattice sides_;
  Sides kind_;
};

MadeGraph rows_of_path(const Spec& spec, Client n, WeightRule rule) {
  return made<Lattice>(n, rule, spec.text(), families::Lattice{1, n}, Lattice::Sides::open);
}

MadeGraph rows_of_torus(const Spec& spec, Client n, WeightRule rule) {
  return made<Lattice>(n, rule, spec.text(), families::lattice_of(spec, n), Lattice::Sides::closed);
}

MadeGraph rows_of_grid(const Spec& spec, Client n, WeightRule rule) {
  return made<Lattice>(n, rule, spec.text(), families::lattice_of(spec, n), Lattice::Sides::open);
}

class Hypercube final : public IndexedGraph {
 public:
  Hypercube(Client n, WeightRule rule, std::string spec)
      : IndexedGraph(n, rule, 1, std::move(spec)), bits_(powers_of_two_below(n)) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round) const override {
    std::vector<Client> peers;
    for (const Client bit : bits_) peers.push_back(u ^ bit);
    return sorted(std::move(peers));
  }
  [[nodiscard]] std::size_t degree(Client) const override { return bits_.size(); }
  std::vector<Client> bits_;
};

MadeGraph rows_of_hypercube(const Spec& spec, Client n, WeightRule rule) {
  families::check_hypercube(spec, n);
  return made<Hypercube>(n, rule, spec.text());
}

MadeGraph rows_of_random_circles(const Spec& spec, Client n, WeightRule rule) {
  return families::random_circles(spec, n, rule);
}

}  // namespace

const IndexedTable& indexed_table() {
  static const std::vector<Parameter> sides{{"rows", ""}, {"columns", ""}};
  static const IndexedTable table(
      "topology family", {
                             {"ring", "as there", {}, rows_of_ring},
                             {"directed-ring", "as there", {}, rows_of_directed_ring},
                             {"path", "as there", {}, rows_of_path},
                             {"star", "as there", {}, rows_of_star},
                             {"exponential", "as there", {}, rows_of_exponential},
                             {"one-peer-exponential", "as there", {}, rows_of_one_peer_exponential},
                             {"torus", "as there", sides, rows_of_torus},
                             {"grid", "as there", sides, rows_of_grid},
                             {"hypercube", "as there", {}, rows_of_hypercube},
                             {"random-circles", "as there", {{"degree", ""}, {"seed", ""}}, rows_of_random_circles},
                         });
  return table;
}

}  // namespace starling
