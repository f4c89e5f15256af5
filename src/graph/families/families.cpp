// Generators of topologies. A new family is one maker and one row of the table at the end; the makers that draw at
// random are in random_families.cpp.
#include "families.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace starling {

namespace families {

Made finish(const Spec& spec, Client n, WeightRule rule, const std::vector<Edge>& edges,
            const std::vector<Topology::Phase>& phases) {
  check(rule != WeightRule::explicit_weights,
        "{} with explicit weights (a generator writes no weights) use sender, receiver or metropolis", spec.text());
  return std::make_unique<Topology>(n, rule, edges, phases, spec.text());
}

void add_both_ways(std::vector<Edge>& edges, Client u, Client v) {
  edges.push_back({u, v});
  edges.push_back({v, u});
}

std::int64_t whole(const Spec& spec, std::string_view key, std::int64_t otherwise, std::int64_t least,
                   std::int64_t most) {
  const long long value = spec.integer(key, otherwise);
  check(value >= least && value <= most, "{}: {}={} (must be from {} to {} here) correct it", spec.text(), key, value,
        least, most);
  return value;
}

double probability(const Spec& spec, std::string_view key, double otherwise) {
  const double p = spec.number(key, otherwise);
  check(p >= 0 && p <= 1, "{}: {}={} (a probability, from 0 to 1) correct it", spec.text(), key, p);
  return p;
}

std::uint64_t seed_of(const Spec& spec) {
  return static_cast<std::uint64_t>(spec.integer("seed", 1));
}

void check_edges_fit(const Spec& spec, double edges, std::string_view remedy) {
  check(edges <= 3e7, "{}: about {:.0f} edges (too many for memory) {}", spec.text(), edges, remedy);
}

Lattice lattice_of(const Spec& spec, Client n) {
  Client side = static_cast<Client>(std::sqrt(static_cast<double>(n)));
  while (n % side != 0) --side;
  Lattice lattice{side, n / side};
  const bool rows = spec.find("rows").has_value();
  const bool columns = spec.find("columns").has_value();
  if (rows) lattice.rows = static_cast<Client>(whole(spec, "rows", 1, 1, n));
  if (columns) lattice.columns = static_cast<Client>(whole(spec, "columns", 1, 1, n));
  if (rows && !columns) lattice.columns = n / lattice.rows;
  if (columns && !rows) lattice.rows = n / lattice.columns;
  check(static_cast<std::int64_t>(lattice.rows) * lattice.columns == n,
        "{}: {} clients do not fill {} rows and {} columns (rows times columns is the number of clients) correct one",
        spec.text(), n, lattice.rows, lattice.columns);
  return lattice;
}

void check_hypercube(const Spec& spec, Client n) {
  check(std::has_single_bit(static_cast<std::uint64_t>(n)),
        "{}: {} clients (a hypercube has 1, 2, 4, 8, … of them) use such a number, or exponential", spec.text(), n);
}

}  // namespace families

namespace {

using namespace families;

/// Hops 1, 2, 4, … below n: ⌈log2 n⌉ of them.
std::vector<Client> powers_below(Client n) {
  std::vector<Client> hops;
  for (Client hop = 1; hop < n; hop *= 2) hops.push_back(hop);
  return hops;
}

void add_hops(std::vector<Edge>& edges, Client n, Client hop) {
  for (Client u = 0; u < n; ++u) edges.push_back({u, (u + hop) % n});
}

Made make_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Edge> edges;
  for (Client u = 0; u + 1 < n; ++u) add_both_ways(edges, u, u + 1);
  if (n > 2) add_both_ways(edges, n - 1, 0);
  return finish(spec, n, rule, edges);
}

Made make_directed_ring(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Edge> edges;
  if (n > 1) add_hops(edges, n, 1);
  return finish(spec, n, rule, edges);
}

Made make_star(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Edge> edges;
  for (Client u = 1; u < n; ++u) add_both_ways(edges, 0, u);
  return finish(spec, n, rule, edges);
}

Made make_complete(const Spec& spec, Client n, WeightRule rule) {
  constexpr Client most = 3'000;
  check(n <= most, "{}: {} clients (a complete graph has n(n − 1) edges: at most {} clients) use exponential",
        spec.text(), n, most);
  std::vector<Edge> edges;
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < u; ++v) add_both_ways(edges, u, v);
  }
  return finish(spec, n, rule, edges);
}

Made make_exponential(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Edge> edges;
  for (const Client hop : powers_below(n)) add_hops(edges, n, hop);
  return finish(spec, n, rule, edges);
}

Made make_one_peer_exponential(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Topology::Phase> phases;
  for (const Client hop : powers_below(n)) {
    phases.emplace_back();
    add_hops(phases.back().edges, n, hop);
  }
  return finish(spec, n, rule, {}, phases);
}

Made make_path(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Edge> edges;
  for (Client u = 0; u + 1 < n; ++u) add_both_ways(edges, u, u + 1);
  return finish(spec, n, rule, edges);
}

/// Rows and columns as paths, closed to circles where `closed` (a side of two has one edge either way).
Made make_lattice(const Spec& spec, Client n, WeightRule rule, bool closed) {
  check_edges_fit(spec, 4.0 * n, "use fewer clients");
  const auto [rows, columns] = lattice_of(spec, n);
  const auto has_next = [closed](Client at, Client side) { return at + 1 < side || (closed && side > 2); };
  std::vector<Edge> edges;
  for (Client row = 0; row < rows; ++row) {
    for (Client column = 0; column < columns; ++column) {
      const Client u = row * columns + column;
      if (has_next(column, columns)) add_both_ways(edges, u, row * columns + (column + 1) % columns);
      if (has_next(row, rows)) add_both_ways(edges, u, (row + 1) % rows * columns + column);
    }
  }
  return finish(spec, n, rule, edges);
}

Made make_torus(const Spec& spec, Client n, WeightRule rule) {
  return make_lattice(spec, n, rule, true);
}

Made make_grid(const Spec& spec, Client n, WeightRule rule) {
  return make_lattice(spec, n, rule, false);
}

Made make_hypercube(const Spec& spec, Client n, WeightRule rule) {
  check_hypercube(spec, n);
  check_edges_fit(spec, n * std::log2(n), "use fewer clients");
  std::vector<Edge> edges;
  for (const Client bit : powers_below(n)) {
    for (Client u = 0; u < n; ++u) edges.push_back({u, u ^ bit});
  }
  return finish(spec, n, rule, edges);
}

void add_complete(std::vector<Edge>& edges, Client begin, Client end) {
  for (Client u = begin; u < end; ++u) {
    for (Client v = begin; v < u; ++v) add_both_ways(edges, u, v);
  }
}

Made make_barbell(const Spec& spec, Client n, WeightRule rule) {
  check_edges_fit(spec, 0.5 * n * n, "use fewer clients");
  const Client half = n / 2;
  std::vector<Edge> edges;
  add_complete(edges, 0, half);
  add_complete(edges, half, n);
  if (half > 0) add_both_ways(edges, half - 1, half);
  return finish(spec, n, rule, edges);
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
