// Generators of topologies. A new family is one maker and one row of the table at the end.
#include <algorithm>
#include <cmath>
#include <utility>

#include "starling/core/random.hpp"
#include "starling/graph/topology.hpp"

namespace starling {

namespace {

using Made = std::unique_ptr<Topology>;

constexpr Client max_pairwise_clients = 50'000;

/// Hops 1, 2, 4, … below n: ⌈log2 n⌉ of them.
std::vector<Client> powers_below(Client n) {
  std::vector<Client> hops;
  for (Client hop = 1; hop < n; hop *= 2) hops.push_back(hop);
  return hops;
}

Made finish(const Spec& spec, Client n, WeightRule rule, const std::vector<Edge>& edges,
            const std::vector<Topology::Phase>& phases = {}) {
  check(rule != WeightRule::explicit_weights,
        "{} with explicit weights (a generator writes no weights) use sender, receiver or metropolis", spec.text());
  return std::make_unique<Topology>(n, rule, edges, phases, spec.text());
}

void add_both_ways(std::vector<Edge>& edges, Client u, Client v) {
  edges.push_back({u, v});
  edges.push_back({v, u});
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

/// Whether the pair (u, v) is joined; addressed by the pair, so that it does not depend on any other.
bool joined(std::uint64_t seed, Client u, Client v, double p) {
  return AddressedRandom(seed, Purpose::topology, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(v))
             .uniform() < p;
}

Made make_erdos_renyi(const Spec& spec, Client n, WeightRule rule) {
  check(n <= max_pairwise_clients, "{}: {} clients (every pair is drawn: at most {} clients) use exponential",
        spec.text(), n, max_pairwise_clients);
  const double p = spec.number("p", std::min(1.0, 2 * std::log(n) / n));
  check(p >= 0 && p <= 1, "{}: p={} (a probability, from 0 to 1) correct it", spec.text(), p);
  const long long directed = spec.integer("directed", 0);
  check(directed == 0 || directed == 1, "{}: directed={} (either 0 or 1) correct it", spec.text(), directed);
  check(p * n * n < 3e7, "{}: about {:.0f} edges (too many for memory) lower p", spec.text(), p * n * n);
  const auto seed = static_cast<std::uint64_t>(spec.integer("seed", 1));
  std::vector<Edge> edges;
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < n; ++v) {
      if (directed == 1 && u != v && joined(seed, u, v, p)) edges.push_back({u, v});
      if (directed == 0 && u < v && joined(seed, u, v, p)) add_both_ways(edges, u, v);
    }
  }
  return finish(spec, n, rule, edges);
}

}  // namespace

const TopologyTable& topology_table() {
  static const TopologyTable table(
      "topology family",
      {
          {"ring", "each client and its two neighbours, both ways", {}, make_ring},
          {"directed-ring", "client u sends to u + 1", {}, make_directed_ring},
          {"star", "client 0 and every other, both ways", {}, make_star},
          {"complete", "every client and every other", {}, make_complete},
          {"exponential", "u sends to u + 1, u + 2, u + 4, …", {}, make_exponential},
          {"one-peer-exponential",
           "u sends to u + 2^(t mod ⌈log2 n⌉) in round t: one message a round, exact when n is a power of 2",
           {},
           make_one_peer_exponential},
          {"erdos-renyi",
           "every pair is joined at random, both ways (may fall apart: check it)",
           {{"p", "probability of a pair (min(1, 2 ln n / n))"},
            {"seed", "of the draws (1)"},
            {"directed", "1 draws each direction by itself (0)"}},
           make_erdos_renyi},
      });
  return table;
}

}  // namespace starling
