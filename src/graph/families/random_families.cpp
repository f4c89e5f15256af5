// Generators of topologies that draw at random: the same spec gives the same graph everywhere.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/random.hpp"
#include "families.hpp"

namespace starling::families {

namespace {

using Pair = std::pair<Client, Client>;

constexpr Client max_pairwise_clients = 50'000;

Client draw(AddressedRandom& random, Client n) {
  return static_cast<Client>(random.below(static_cast<std::uint64_t>(n)));
}

/// Fisher and Yates, so that the order is the same with every standard library.
void shuffle(std::vector<Client>& items, AddressedRandom& random) {
  for (std::size_t k = items.size(); k > 1; --k) std::swap(items[k - 1], items[random.below(k)]);
}

std::vector<Client> shuffled_clients(Client n, AddressedRandom& random) {
  std::vector<Client> order(static_cast<std::size_t>(n));
  for (Client u = 0; u < n; ++u) order[static_cast<std::size_t>(u)] = u;
  shuffle(order, random);
  return order;
}

/// Unordered pairs of two different clients.
class PairSet {
 public:
  [[nodiscard]] bool contains(Pair pair) const { return keys_.contains(key(pair)); }
  /// Whether the pair joins two clients that were not joined.
  bool insert(Pair pair) { return pair.first != pair.second && keys_.insert(key(pair)).second; }
  void erase(Pair pair) { keys_.erase(key(pair)); }

 private:
  static std::uint64_t key(Pair pair) {
    const auto [low, high] = std::minmax(pair.first, pair.second);
    return static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint64_t>(low);
  }
  std::unordered_set<std::uint64_t> keys_;
};

/// Whether the pair (u, v) is joined; addressed by the pair, so that it does not depend on any other.
bool joined(std::uint64_t seed, Client u, Client v, double p) {
  return AddressedRandom(seed, Purpose::topology, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(v))
             .uniform() < p;
}

/// Pairs of a random order of all stubs, `degree` per client: loops and repeated pairs among them.
std::vector<Pair> pair_stubs(Client n, Client degree, AddressedRandom& random) {
  std::vector<Client> stubs;
  stubs.reserve(static_cast<std::size_t>(n) * static_cast<std::size_t>(degree));
  for (Client u = 0; u < n; ++u) stubs.insert(stubs.end(), static_cast<std::size_t>(degree), u);
  shuffle(stubs, random);
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k + 1 < stubs.size(); k += 2) pairs.emplace_back(stubs[k], stubs[k + 1]);
  return pairs;
}

/// Exchanges an end of the bad pair with one of another, so that both join clients anew; whether that was found.
bool repair(std::vector<Pair>& pairs, std::size_t bad, const std::vector<bool>& good, PairSet& joined_pairs,
            AddressedRandom& random) {
  const auto [a, b] = pairs[bad];
  for (int trial = 0; trial < 1'000; ++trial) {
    const std::size_t other = random.below(pairs.size());
    auto [c, d] = pairs[other];
    if (random.below(2) == 1) std::swap(c, d);
    if (!good[other] || a == c || b == d || joined_pairs.contains({a, c}) || joined_pairs.contains({b, d})) continue;
    joined_pairs.erase({c, d});
    joined_pairs.insert({a, c});
    joined_pairs.insert({b, d});
    pairs[bad] = {a, c};
    pairs[other] = {b, d};
    return true;
  }
  return false;
}

/// A simple graph in which everybody has `degree` neighbours: stubs paired at random, then repaired by exchanges. None
/// where these got stuck, as they may on a few clients.
std::optional<std::vector<Pair>> try_regular(Client n, Client degree, AddressedRandom random) {
  std::vector<Pair> pairs = pair_stubs(n, degree, random);
  PairSet joined_pairs;
  std::vector<bool> good(pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) good[k] = joined_pairs.insert(pairs[k]);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (good[k]) continue;
    if (!repair(pairs, k, good, joined_pairs, random)) return std::nullopt;
    good[k] = true;
  }
  return pairs;
}

std::vector<Pair> regular_pairs(const Spec& spec, Client n, Client degree) {
  constexpr std::uint64_t attempts = 1'000;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    const AddressedRandom random(seed_of(spec), Purpose::topology, attempt, 0);
    if (auto pairs = try_regular(n, degree, random)) return std::move(*pairs);
  }
  throw UsageError(fmt::format("{}: no such graph of {} clients was found: in {} attempts. Use another seed.",
                               spec.text(), n, attempts));
}

/// All pairs that are not among these.
std::vector<Pair> other_pairs(Client n, const std::vector<Pair>& pairs) {
  PairSet present;
  for (const Pair& pair : pairs) present.insert(pair);
  std::vector<Pair> others;
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < u; ++v) {
      if (!present.contains({u, v})) others.emplace_back(u, v);
    }
  }
  return others;
}

std::vector<Edge> both_ways(const std::vector<Pair>& pairs) {
  std::vector<Edge> edges;
  for (const auto& [u, v] : pairs) add_both_ways(edges, u, v);
  return edges;
}

/// New neighbour of u, drawn at random; none if no trial found a new one, as when u knows nearly all clients.
std::optional<Client> stranger(Client u, Client n, const PairSet& joined_pairs, AddressedRandom& random) {
  for (int trial = 0; trial < 64; ++trial) {
    const Client v = draw(random, n);
    if (v != u && !joined_pairs.contains({u, v})) return v;
  }
  return std::nullopt;
}

/// Everybody and the `reach` next on a ring; a reach of n/2 joins opposite clients once.
std::vector<Pair> ring_lattice(Client n, Client reach) {
  std::vector<Pair> pairs;
  for (Client hop = 1; hop <= reach; ++hop) {
    const Client count = 2 * hop == n ? hop : n;
    for (Client u = 0; u < count; ++u) pairs.emplace_back(u, (u + hop) % n);
  }
  return pairs;
}

/// The edges of a directed circle through all clients in random order, dealt at random to the phases.
void deal_circle(std::vector<Topology::Phase>& phases, Client n, AddressedRandom& random) {
  const std::vector<Client> order = shuffled_clients(n, random);
  for (std::size_t k = 0; k < order.size() && n > 1; ++k) {
    phases[random.below(phases.size())].edges.push_back({order[k], order[(k + 1) % order.size()]});
  }
}

/// With probability `extra` a random receiver for each client that does not send on the circle in this phase.
void add_receivers(Topology::Phase& phase, Client n, double extra, AddressedRandom& random) {
  std::vector<bool> sends(static_cast<std::size_t>(n), n == 1);
  for (const Edge& edge : phase.edges) sends[static_cast<std::size_t>(edge.from)] = true;
  for (Client u = 0; u < n; ++u) {
    if (sends[static_cast<std::size_t>(u)] || random.uniform() >= extra) continue;
    phase.edges.push_back({u, (u + 1 + draw(random, n - 1)) % n});
  }
}

/// Phases of one round each, as many as the spec says.
std::vector<Topology::Phase> phases_of(const Spec& spec, std::string_view key, std::int64_t otherwise, Client n) {
  const std::int64_t most = std::max<std::int64_t>(1, 20'000'000 / n);
  return std::vector<Topology::Phase>(static_cast<std::size_t>(whole(spec, key, std::min(otherwise, most), 1, most)));
}

}  // namespace

Made make_erdos_renyi(const Spec& spec, Client n, WeightRule rule) {
  check(n <= max_pairwise_clients, "{}: {} clients: every pair is drawn: at most {} clients. Use exponential.",
        spec.text(), n, max_pairwise_clients);
  const double p = probability(spec, "p", std::min(1.0, 2 * std::log(n) / n));
  const std::int64_t directed = whole(spec, "directed", 0, 0, 1);
  check_edges_fit(spec, p * n * n, "Lower p");
  const std::uint64_t seed = seed_of(spec);
  std::vector<Edge> edges;
  for (Client u = 0; u < n; ++u) {
    for (Client v = 0; v < n; ++v) {
      if (directed == 1 && u != v && joined(seed, u, v, p)) edges.push_back({u, v});
      if (directed == 0 && u < v && joined(seed, u, v, p)) add_both_ways(edges, u, v);
    }
  }
  return finish(spec, n, rule, edges);
}

Made make_random_regular(const Spec& spec, Client n, WeightRule rule) {
  const auto degree = static_cast<Client>(whole(spec, "degree", std::min<std::int64_t>(4, n - 1), 0, n - 1));
  check(static_cast<std::int64_t>(n) * degree % 2 == 0,
        "{}: {} clients with {} neighbours each: clients × degree must be even: an edge has two ends. Change one by 1.",
        spec.text(), n, degree);
  check_edges_fit(spec, static_cast<double>(n) * degree, "Lower the degree");
  const bool dense = 2 * degree > n - 1;  // exchanges get stuck there: draw who is *not* joined
  const std::vector<Pair> pairs = regular_pairs(spec, n, dense ? n - 1 - degree : degree);
  return finish(spec, n, rule, both_ways(dense ? other_pairs(n, pairs) : pairs));
}

Made make_small_world(const Spec& spec, Client n, WeightRule rule) {
  const Client most = n - n % 2;
  const auto neighbours = static_cast<Client>(whole(spec, "neighbours", std::min<Client>(4, most), 0, most));
  check(neighbours % 2 == 0, "{}: neighbours={}: half of them on either side: an even number. Correct it.", spec.text(),
        neighbours);
  check_edges_fit(spec, static_cast<double>(n) * neighbours, "Lower neighbours");
  const double rewire = probability(spec, "rewire", 0.1);
  std::vector<Pair> pairs = ring_lattice(n, neighbours / 2);
  PairSet joined_pairs;
  for (const Pair& pair : pairs) joined_pairs.insert(pair);
  AddressedRandom random(seed_of(spec), Purpose::topology, 0, 0);
  for (Pair& pair : pairs) {
    if (random.uniform() >= rewire) continue;
    const auto moved = stranger(pair.first, n, joined_pairs, random);
    if (!moved) continue;
    joined_pairs.erase(pair);
    pair.second = *moved;
    joined_pairs.insert(pair);
  }
  return finish(spec, n, rule, both_ways(pairs));
}

Made make_random_matching(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Topology::Phase> phases = phases_of(spec, "rounds", 8, n);
  for (std::size_t t = 0; t < phases.size(); ++t) {
    AddressedRandom random(seed_of(spec), Purpose::topology, 0, t);
    const std::vector<Client> order = shuffled_clients(n, random);
    for (std::size_t k = 0; k + 1 < order.size(); k += 2) add_both_ways(phases[t].edges, order[k], order[k + 1]);
  }
  return finish(spec, n, rule, {}, phases);
}

Made make_b_connected(const Spec& spec, Client n, WeightRule rule) {
  std::vector<Topology::Phase> phases = phases_of(spec, "window", 4, n);
  const double extra = probability(spec, "extra", 0.25);
  AddressedRandom random(seed_of(spec), Purpose::topology, 0, 0);
  deal_circle(phases, n, random);
  for (Topology::Phase& phase : phases) add_receivers(phase, n, extra, random);
  return finish(spec, n, rule, {}, phases);
}

}  // namespace starling::families
