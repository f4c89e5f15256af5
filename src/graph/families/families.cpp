// Topology families whose rows follow from a client's number, and the table of all families. A new family is one class
// that says who sends to whom, one maker, and one row of the table at the end.
#include "families.hpp"

#include "indexed.hpp"
#include <algorithm>
#include <bit>
#include <utility>

namespace starling {

namespace {

using namespace families;

/// Makes a family's graph, and checks that it fits the weight rule.
template <class Family, class... Arguments>
Made made(Arguments&&... arguments) {
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

Made make_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Client> hops;
  if (n > 1) hops.push_back(1);
  if (n > 2) hops.push_back(n - 1);
  return made<Hops>(n, rule, spec.text(), std::move(hops), Hops::When::together);
}

Made make_directed_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Client> hops;
  if (n > 1) hops.push_back(1);
  return made<Hops>(n, rule, spec.text(), std::move(hops), Hops::When::together);
}

Made make_exponential(const Spec& spec, Client n, WeightRule rule) {
  return made<Hops>(n, rule, spec.text(), powers_of_two_below(n), Hops::When::together);
}

Made make_one_peer_exponential(const Spec& spec, Client n, WeightRule rule) {
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

Made make_star(const Spec& spec, Client n, WeightRule rule) {
  return made<Star>(n, rule, spec.text());
}

/// Rows and columns of clients as paths, or closed to circles (a side of two has one edge either way).
class Lattice final : public IndexedGraph {
 public:
  enum class Ends { open, closed };
  Lattice(Client n, WeightRule rule, std::string spec, Sides sides, Ends ends)
      : IndexedGraph(n, rule, 1, std::move(spec)), sides_(sides), ends_(ends) {}

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
  [[nodiscard]] bool closed(Client side) const { return ends_ == Ends::closed && side > 2; }
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
  Sides sides_;
  Ends ends_;
};

Made make_path(const Spec& spec, Client n, WeightRule rule) {
  return made<Lattice>(n, rule, spec.text(), Sides{1, n}, Lattice::Ends::open);
}

Made make_torus(const Spec& spec, Client n, WeightRule rule) {
  return made<Lattice>(n, rule, spec.text(), sides_of(spec, n), Lattice::Ends::closed);
}

Made make_grid(const Spec& spec, Client n, WeightRule rule) {
  return made<Lattice>(n, rule, spec.text(), sides_of(spec, n), Lattice::Ends::open);
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

Made make_hypercube(const Spec& spec, Client n, WeightRule rule) {
  check_hypercube(spec, n);
  return made<Hypercube>(n, rule, spec.text());
}

/// Clients from `begin` to before `end` without client u, ascending.
std::vector<Client> others(Client u, Client begin, Client end) {
  std::vector<Client> peers;
  for (Client v = begin; v < end; ++v) {
    if (v != u) peers.push_back(v);
  }
  return peers;
}

class Complete final : public IndexedGraph {
 public:
  Complete(Client n, WeightRule rule, std::string spec) : IndexedGraph(n, rule, 1, std::move(spec)) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round) const override { return others(u, 0, clients()); }
  [[nodiscard]] std::size_t degree(Client) const override { return static_cast<std::size_t>(clients() - 1); }
};

Made make_complete(const Spec& spec, Client n, WeightRule rule) {
  constexpr Client most = 3'000;
  check(n <= most, "{}: {} clients (a complete graph has n(n − 1) edges: at most {} clients) use exponential",
        spec.text(), n, most);
  return made<Complete>(n, rule, spec.text());
}

/// Two complete halves, the last client of the first half joined to the first client of the second.
class Barbell final : public IndexedGraph {
 public:
  Barbell(Client n, WeightRule rule, std::string spec) : IndexedGraph(n, rule, 1, std::move(spec)), half_(n / 2) {}

 private:
  [[nodiscard]] std::vector<Client> receivers(Client u, Round) const override {
    std::vector<Client> peers = u < half_ ? others(u, 0, half_) : others(u, half_, clients());
    if (is_bridge(u)) peers.insert(u < half_ ? peers.end() : peers.begin(), u < half_ ? half_ : half_ - 1);
    return peers;
  }
  [[nodiscard]] std::size_t degree(Client u) const override {
    return static_cast<std::size_t>((u < half_ ? half_ : clients() - half_) - 1) + (is_bridge(u) ? 1U : 0U);
  }
  [[nodiscard]] bool is_bridge(Client u) const { return half_ > 0 && (u == half_ - 1 || u == half_); }

  Client half_;
};

Made make_barbell(const Spec& spec, Client n, WeightRule rule) {
  check_edges_fit(spec, 0.5 * n * n, "use fewer clients");
  return made<Barbell>(n, rule, spec.text());
}

}  // namespace

const TopologyTable& topology_table() {
  static const TopologyTable table(
      "topology family",
      {
          {"ring", "each client and its two neighbours, both ways", {}, make_ring},
          {"directed-ring", "client u sends to u + 1", {}, make_directed_ring},
          {"path", "each client and the next, both ways", {}, make_path},
          {"star", "client 0 and every other, both ways", {}, make_star},
          {"complete", "every client and every other", {}, make_complete},
          {"exponential", "u sends to u + 1, u + 2, u + 4, …", {}, make_exponential},
          {"one-peer-exponential",
           "u sends to u + 2^(t mod ⌈log2 n⌉) in round t: one message a round, exact when n is a power of 2",
           {},
           make_one_peer_exponential},
          {"torus",
           "rows and columns closed to circles, both ways",
           {{"rows", "number of rows (as square as the clients allow)"}, {"columns", "number of columns (the same)"}},
           make_torus},
          {"grid",
           "rows and columns as paths, both ways",
           {{"rows", "number of rows (as square as the clients allow)"}, {"columns", "number of columns (the same)"}},
           make_grid},
          {"hypercube", "clients whose numbers differ in one bit, both ways; a power of 2 of them", {}, make_hypercube},
          {"barbell", "two complete halves joined by one edge, both ways: the hardest to mix", {}, make_barbell},
          {"erdos-renyi",
           "every pair is joined at random, both ways (may fall apart: check it)",
           {{"p", "probability of a pair (min(1, 2 ln n / n))"},
            {"seed", "of the draws (1)"},
            {"directed", "1 draws each direction by itself (0)"}},
           make_erdos_renyi},
          {"random-regular",
           "every client has the same number of random neighbours, both ways (connected almost surely from 3 on)",
           {{"degree", "neighbours of each; clients × degree is even (4, or all others if fewer)"},
            {"seed", "of the draws (1)"}},
           make_random_regular},
          {"random-circles",
           "random circles through all clients, both ways: like random-regular, always connected, rows from numbers "
           "alone",
           {{"degree", "neighbours of each, an even number; one that two circles share counts twice (8)"},
            {"seed", "of the draws (1)"}},
           make_random_circles},
          {"small-world",
           "Watts and Strogatz: a ring of near neighbours, each edge's far end moved at random with a probability",
           {{"neighbours", "of each before moving, an even number (4, or fewer if there are fewer clients)"},
            {"rewire", "probability that an edge is moved (0.1)"},
            {"seed", "of the draws (1)"}},
           make_small_world},
          {"random-matching",
           "in each round random pairs, both ways: one message a round; of an odd number one client rests",
           {{"rounds", "random matchings before they repeat (8)"}, {"seed", "of the draws (1)"}},
           make_random_matching},
          {"b-connected",
           "sparse random digraphs, each round another, strongly connected over every `window` rounds",
           {{"window", "rounds before they repeat; a random directed circle through all is dealt to them by edges (4)"},
            {"extra", "probability that a client who would rest in a round sends to a random other (0.25)"},
            {"seed", "of the draws (1)"}},
           make_b_connected},
      });
  return table;
}

}  // namespace starling
