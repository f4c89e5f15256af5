// Topology families whose rows follow from a client's number, and the table of all families. A new family is one maker,
// which says who sends to whom, and one row of the table at the end.
#include "families.hpp"

#include <algorithm>
#include <utility>

#include "indexed.hpp"

namespace starling {

namespace {

using namespace families;

Made made(Client n, WeightRule rule, IndexedGraph::Family family) {
  return std::make_unique<IndexedGraph>(n, rule, std::move(family));
}

std::vector<Client> sorted(std::vector<Client> peers) {
  std::sort(peers.begin(), peers.end());
  return peers;
}

/// Clients from `begin` to before `end` without client u, ascending.
std::vector<Client> others(Client u, Client begin, Client end) {
  std::vector<Client> peers;
  for (Client v = begin; v < end; ++v) {
    if (v != u) peers.push_back(v);
  }
  return peers;
}

/// u sends to u + h for some different hops h, from 1 to n − 1, along a circle of all clients.
Made circle_of(const Spec& spec, Client n, WeightRule rule, const std::vector<Client>& hops) {
  const auto places = [=](Client u, bool onwards) {
    std::vector<Client> peers;
    for (const Client hop : hops) peers.push_back((u + (onwards ? hop : n - hop)) % n);
    return sorted(std::move(peers));
  };
  return made(n, rule,
              {spec.text(), [=](Client u, Round) { return places(u, true); }, [=](Client) { return hops.size(); },
               [=](Client u, Round) { return places(u, false); }});
}

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
  return circle_of(spec, n, rule, hops);
}

Made make_directed_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Client> hops;
  if (n > 1) hops.push_back(1);
  return circle_of(spec, n, rule, hops);
}

Made make_exponential(const Spec& spec, Client n, WeightRule rule) {
  return circle_of(spec, n, rule, powers_of_two_below(n));
}

/// One hop after the other.
Made make_one_peer_exponential(const Spec& spec, Client n, WeightRule rule) {
  const std::vector<Client> hops = powers_of_two_below(n);
  if (hops.empty()) return circle_of(spec, n, rule, hops);
  const auto hop = [=](Round t) { return hops[static_cast<std::size_t>(t)]; };
  return made(n, rule,
              {spec.text(), [=](Client u, Round t) { return std::vector{(u + hop(t)) % n}; },
               [](Client) { return std::size_t{1}; },
               [=](Client u, Round t) { return std::vector{(u + n - hop(t)) % n}; }, static_cast<Round>(hops.size())});
}

Made make_star(const Spec& spec, Client n, WeightRule rule) {
  return made(n, rule,
              {spec.text(), [=](Client u, Round) { return u > 0 ? std::vector<Client>{0} : others(0, 0, n); },
               [=](Client u) { return static_cast<std::size_t>(u > 0 ? 1 : n - 1); }});
}

/// Rows and columns of clients as paths, or closed to circles (a side of two has one edge either way).
class Lattice {
 public:
  enum class Ends { open, closed };
  Lattice(Sides sides, Ends ends) : sides_(sides), ends_(ends) {}

  [[nodiscard]] std::vector<Client> receivers(Client u) const {
    const Client row = u / sides_.columns;
    const Client column = u % sides_.columns;
    std::vector<Client> peers;
    for (const Client near : beside(column, sides_.columns)) peers.push_back(row * sides_.columns + near);
    for (const Client near : beside(row, sides_.rows)) peers.push_back(near * sides_.columns + column);
    return sorted(std::move(peers));
  }
  [[nodiscard]] std::size_t degree(Client u) const {
    return count_beside(u % sides_.columns, sides_.columns) + count_beside(u / sides_.columns, sides_.rows);
  }

 private:
  [[nodiscard]] bool is_closed(Client side) const { return ends_ == Ends::closed && side > 2; }
  [[nodiscard]] std::size_t count_beside(Client at, Client side) const {
    return is_closed(side) ? 2 : (at + 1 < side ? 1U : 0U) + (at > 0 ? 1U : 0U);
  }
  /// Places next to one on a side.
  [[nodiscard]] std::vector<Client> beside(Client at, Client side) const {
    std::vector<Client> near;
    if (at + 1 < side || is_closed(side)) near.push_back((at + 1) % side);
    if (at > 0 || is_closed(side)) near.push_back((at + side - 1) % side);
    return near;
  }

  Sides sides_;
  Ends ends_;
};

Made made_of(const Lattice& lattice, const Spec& spec, Client n, WeightRule rule) {
  return made(n, rule,
              {spec.text(), [=](Client u, Round) { return lattice.receivers(u); },
               [=](Client u) { return lattice.degree(u); }});
}

Made make_path(const Spec& spec, Client n, WeightRule rule) {
  return made_of(Lattice(Sides{1, n}, Lattice::Ends::open), spec, n, rule);
}

Made make_torus(const Spec& spec, Client n, WeightRule rule) {
  return made_of(Lattice(sides_of(spec, n), Lattice::Ends::closed), spec, n, rule);
}

Made make_grid(const Spec& spec, Client n, WeightRule rule) {
  return made_of(Lattice(sides_of(spec, n), Lattice::Ends::open), spec, n, rule);
}

Made make_hypercube(const Spec& spec, Client n, WeightRule rule) {
  check_hypercube(spec, n);
  const std::vector<Client> bits = powers_of_two_below(n);
  const auto receivers = [=](Client u, Round) {
    std::vector<Client> peers;
    for (const Client bit : bits) peers.push_back(u ^ bit);
    return sorted(std::move(peers));
  };
  return made(n, rule, {spec.text(), receivers, [=](Client) { return bits.size(); }});
}

Made make_complete(const Spec& spec, Client n, WeightRule rule) {
  constexpr Client most = 3'000;
  check(n <= most, "{}: {} clients: a complete graph has n(n − 1) edges: at most {} clients. Use exponential.",
        spec.text(), n, most);
  return made(n, rule,
              {spec.text(), [=](Client u, Round) { return others(u, 0, n); },
               [=](Client) { return static_cast<std::size_t>(n - 1); }});
}

/// Two complete halves, the last client of the first half joined to the first client of the second.
Made make_barbell(const Spec& spec, Client n, WeightRule rule) {
  check_edges_fit(spec, 0.5 * n * n, "Use fewer clients");
  const Client half = n / 2;
  const auto is_bridge = [=](Client u) { return half > 0 && (u == half - 1 || u == half); };
  const auto receivers = [=](Client u, Round) {
    std::vector<Client> peers = u < half ? others(u, 0, half) : others(u, half, n);
    if (is_bridge(u)) peers.insert(u < half ? peers.end() : peers.begin(), u < half ? half : half - 1);
    return peers;
  };
  const auto degree = [=](Client u) {
    return static_cast<std::size_t>((u < half ? half : n - half) - 1) + (is_bridge(u) ? 1U : 0U);
  };
  return made(n, rule, {spec.text(), receivers, degree});
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
