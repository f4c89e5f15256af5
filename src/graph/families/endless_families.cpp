// Families of endless graphs, and random circles, which are fixed. A new one is a maker, whose `peers` says who sends
// to whom, and one row of the table at the end.
#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "families.hpp"
#include "graph/families/endless.hpp"
#include "graph/random_pairs.hpp"

namespace starling::families {

namespace {

using Degrees = EndlessGraph::Degrees;
using Peers = EndlessGraph::Peers;

Made endless(Client n, WeightRule rule, EndlessGraph::Family family) {
  return std::make_unique<EndlessGraph>(n, rule, std::move(family));
}

/// As specs write it, who read a negative one too.
std::int64_t written(std::uint64_t seed) {
  return static_cast<std::int64_t>(seed);
}

/// Parts of addresses, so that no two kinds of draws share one.
enum Stream : std::uint64_t { matching = 1, circle, places, extras, extra_draws, labels, hops, circles };

AddressedRandom random_of(std::uint64_t seed, Stream stream, Client u, Round t) {
  return {seed, Purpose::topology, static_cast<std::uint64_t>(stream) << 48 | static_cast<std::uint64_t>(u),
          static_cast<std::uint64_t>(t)};
}

/// Neighbours in a random order of all clients are paired; the last of an odd number rests.
Made endless_random_matching(const Spec& spec, Client n, WeightRule rule) {
  const std::uint64_t seed = seed_of(spec);
  const auto peers = [=](Client u, Round t) -> Peers {
    const KeyedPermutation order(seed, matching, t, n);
    const Client partner = order.inverse(u) ^ 1;
    if (partner >= n) return {};
    return {{order(partner)}, {order(partner)}};
  };
  return endless(n, rule,
                 {Degrees::paired, fmt::format("random-matching:seed={},rounds=endless", written(seed)), peers});
}

/// u sends to u + 2^(t mod ⌈log2 n⌉): it repeats, but no round of it needs a table.
Made endless_one_peer_exponential(const Spec&, Client n, WeightRule rule) {
  Round period = 0;
  for (Client hop = 1; hop < n; hop *= 2) ++period;
  period = std::max<Round>(1, period);
  const auto peers = [=](Client u, Round t) -> Peers {
    if (n == 1) return {};
    const Client hop = Client{1} << (t % period);
    return {{(u + hop) % n}, {(u + n - hop) % n}};
  };
  return endless(n, rule, {Degrees::regular, "one-peer-exponential:rounds=endless", peers, period});
}

/// A directed circle through all clients in random order, each edge of which comes once in `window` rounds, always the
/// same time after the window's start: so any `window` rounds hold the whole circle. Who does not send on it in a round
/// sends, with probability `extra`, to where a random permutation of the round takes it.
class BConnected {
 public:
  BConnected(Client n, Round window, double extra, std::uint64_t seed)
      : clients_(n), window_(window), extra_(extra), seed_(seed), circle_(seed, circle, 0, n) {}

  [[nodiscard]] Peers operator()(Client u, Round t) const {
    const KeyedPermutation extras_of_round(seed_, extras, t, clients_);
    Peers row;
    const Client place = circle_.inverse(u);
    if (clients_ > 1 && circle_edge_comes(place, t)) row.out.push_back(at_place(place + 1));
    if (row.out.empty() && sends_extra(u, t)) {
      if (const Client to = extras_of_round(u); to != u) row.out.push_back(to);
    }
    const Client before = place > 0 ? place - 1 : clients_ - 1;
    if (clients_ > 1 && circle_edge_comes(before, t)) row.in.push_back(at_place(before));
    const Client other = extras_of_round.inverse(u);
    if (other != u && !circle_edge_comes(circle_.inverse(other), t) && sends_extra(other, t)) row.in.push_back(other);
    std::sort(row.in.begin(), row.in.end());
    return row;
  }

 private:
  [[nodiscard]] Client at_place(Client place) const { return circle_(place % clients_); }
  /// Whether the edge from this place of the circle to the next is there.
  [[nodiscard]] bool circle_edge_comes(Client place, Round t) const {
    const auto window = static_cast<std::uint64_t>(window_);
    return random_of(seed_, places, place, 0).below(window) == static_cast<std::uint64_t>(t) % window;
  }
  [[nodiscard]] bool sends_extra(Client u, Round t) const {
    return random_of(seed_, extra_draws, u, t).uniform() < extra_;
  }

  Client clients_;
  Round window_;
  double extra_;
  std::uint64_t seed_;
  KeyedPermutation circle_;
};

Made endless_b_connected(const Spec& spec, Client n, WeightRule rule) {
  const Round window = whole(spec, "window", 4, 1, 1'000'000);
  const double extra = probability(spec, "extra", 0.25);
  const std::uint64_t seed = seed_of(spec);
  const std::string text =
      fmt::format("b-connected:window={},extra={},seed={},rounds=endless", window, extra, written(seed));
  return endless(n, rule, {Degrees::one, text, BConnected(n, window, extra, seed), 0, window});
}

Made endless_erdos_renyi(const Spec& spec, Client n, WeightRule rule) {
  const double p = probability(spec, "p", std::min(1.0, 2 * std::log(n) / n));
  const bool directed = whole(spec, "directed", 0, 0, 1) == 1;
  const std::uint64_t seed = seed_of(spec);
  const RandomPairs pairs(seed, n, p, directed ? RandomPairs::Kind::directed : RandomPairs::Kind::undirected);
  const auto peers = [=](Client u, Round t) -> Peers {
    std::vector<Client> receivers = pairs.receivers(u, t);
    if (!directed) return {receivers, receivers};
    return {std::move(receivers), pairs.senders(u, t)};
  };
  const std::string text =
      fmt::format("erdos-renyi:p={},directed={:d},seed={},rounds=endless", p, directed, written(seed));
  return endless(n, rule, {Degrees::sender, text, peers, 0, 1, p > 0 || n == 1});
}

/// Everybody hops `degree` random distances along a circle through all in random order; distances and order are drawn
/// anew, so that each pair is joined with probability degree / (n − 1).
Made endless_random_regular(const Spec& spec, Client n, WeightRule rule) {
  const auto degree =
      static_cast<Client>(whole(spec, "degree", std::min<Client>(4, n - 1), std::min<Client>(1, n - 1), n - 1));
  const std::uint64_t seed = seed_of(spec);
  const auto peers = [=](Client u, Round t) -> Peers {
    if (degree == 0) return {};
    const KeyedPermutation order(seed, labels, t, n);
    const KeyedPermutation distances(seed, hops, t, n - 1);
    const Client place = order.inverse(u);
    Peers row;
    for (Client k = 0; k < degree; ++k) {
      const Client hop = 1 + distances(k);
      row.out.push_back(order((place + hop) % n));
      row.in.push_back(order((place + n - hop) % n));
    }
    std::sort(row.out.begin(), row.out.end());
    std::sort(row.in.begin(), row.in.end());
    return row;
  };
  const std::string text = fmt::format("random-regular:degree={},seed={},rounds=endless", degree, written(seed));
  return endless(n, rule, {Degrees::regular, text, peers});
}

}  // namespace

/// Circles through all clients, each in a random order of its own, both ways; an edge that several have counts as
/// often. Random regular graphs of even degree are like that (Kim and Wormald 2001), and these are connected always.
Made make_random_circles(const Spec& spec, Client n, WeightRule rule) {
  const auto degree = static_cast<Client>(whole(spec, "degree", 8, 2, 1'000));
  check(degree % 2 == 0, "{}: degree={}: each circle gives a client two neighbours: an even number. Correct it.",
        spec.text(), degree);
  const std::uint64_t seed = seed_of(spec);
  std::vector<KeyedPermutation> orders;
  for (Client k = 0; 2 * k < degree; ++k) orders.emplace_back(seed, circles, k, n);
  const auto peers = [=](Client u, Round) -> Peers {
    if (n == 1) return {};
    std::vector<Client> near;
    for (const KeyedPermutation& order : orders) {
      const Client place = order.inverse(u);
      near.push_back(order(place + 1 < n ? place + 1 : 0));
      near.push_back(order(place > 0 ? place - 1 : n - 1));
    }
    std::sort(near.begin(), near.end());
    return {near, near};
  };
  return endless(n, rule,
                 {Degrees::paired, fmt::format("random-circles:degree={},seed={}", degree, written(seed)), peers, 1});
}

}  // namespace starling::families

namespace starling {

const TopologyTable& endless_table() {
  static const Parameter seed{"seed", "of the draws (1)"};
  static const Parameter rounds{"rounds", "endless"};
  static const TopologyTable table(
      "endless topology family",
      {
          {"random-matching",
           "random pairs, both ways: one message a round; of an odd number one client rests",
           {seed, rounds},
           families::endless_random_matching},
          {"one-peer-exponential",
           "as above, for any number of clients without a table",
           {rounds},
           families::endless_one_peer_exponential},
          {"b-connected",
           "every `window` rounds hold a hidden random circle through all, whose edges come one by one",
           {{"window", "rounds in which each edge of the circle comes once (4)"},
            {"extra", "probability that a client who would rest in a round sends to a random other (0.25)"},
            seed,
            rounds},
           families::endless_b_connected},
          {"erdos-renyi",
           "every pair is joined at random, both ways",
           {{"p", "probability of a pair (min(1, 2 ln n / n))"},
            {"directed", "1 draws each direction by itself (0)"},
            seed,
            rounds},
           families::endless_erdos_renyi},
          {"random-regular",
           "a digraph in which all send to as many and receive from as many",
           {{"degree", "receivers of each (4, or all others if fewer)"}, seed, rounds},
           families::endless_random_regular},
      });
  return table;
}

std::string endless_families_help() {
  return "With rounds=endless, drawn anew in every round, each client working out its own row alone (never repeats)\n" +
         endless_table().help();
}

}  // namespace starling
