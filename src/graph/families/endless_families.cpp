// Families of endless graphs. A new one is a struct that says who sends to whom, and one row of the table at the end.
#include "families.hpp"
#include "graph/permutation.hpp"
#include "graph/random_pairs.hpp"
#include <algorithm>
#include <cmath>

#include "starling/core/random.hpp"
#include "starling/graph/families/endless.hpp"

namespace starling {

namespace {

using families::probability;
using families::seed_of;
using families::whole;
using MadeEndless = std::unique_ptr<EndlessGraph>;

/// As specs write it, who read a negative one too.
std::int64_t written(std::uint64_t seed) {
  return static_cast<std::int64_t>(seed);
}

/// Parts of addresses, so that no two kinds of draws share one.
enum Stream : std::uint64_t { matching = 1, circle, places, extras, extra_draws, labels, hops };

AddressedRandom random_of(std::uint64_t seed, Stream stream, Client u, Round t) {
  return {seed, Purpose::topology, static_cast<std::uint64_t>(stream) << 48 | static_cast<std::uint64_t>(u),
          static_cast<std::uint64_t>(t)};
}

/// Neighbours in a random order of all clients are paired; the last of an odd number rests.
class RandomMatching final : public EndlessGraph {
 public:
  RandomMatching(Client n, WeightRule rule, std::uint64_t seed)
      : EndlessGraph(n, rule, Degrees::paired, fmt::format("random-matching:seed={},rounds=endless", written(seed))),
        seed_(seed) {}

 private:
  [[nodiscard]] Peers peers(Client u, Round t) const override {
    const KeyedPermutation order(seed_, matching, t, clients());
    const Client partner = order.inverse(u) ^ 1;
    if (partner >= clients()) return {};
    return {{order(partner)}, {order(partner)}};
  }
  std::uint64_t seed_;
};

/// u sends to u + 2^(t mod ⌈log2 n⌉): it repeats, but no round of it needs a table.
class OnePeerExponential final : public EndlessGraph {
 public:
  OnePeerExponential(Client n, WeightRule rule)
      : EndlessGraph(n, rule, Degrees::regular, "one-peer-exponential:rounds=endless") {
    for (Client hop = 1; hop < n; hop *= 2) ++period_;
    period_ = std::max<Round>(1, period_);
  }
  [[nodiscard]] Round period() const override { return period_; }
  [[nodiscard]] Round telling_rounds() const override { return period_; }

 private:
  [[nodiscard]] Peers peers(Client u, Round t) const override {
    const Client n = clients();
    if (n == 1) return {};
    const Client hop = Client{1} << (t % period_);
    return {{(u + hop) % n}, {(u + n - hop) % n}};
  }
  Round period_ = 0;
};

/// A directed circle through all clients in random order, each edge of which comes once in `window` rounds, always the
/// same time after the window's start: so any `window` rounds hold the whole circle. Who does not send on it in a round
/// sends, with probability `extra`, to where a random permutation of the round takes it.
class BConnected final : public EndlessGraph {
 public:
  BConnected(Client n, WeightRule rule, Round window, double extra, std::uint64_t seed)
      : EndlessGraph(
            n, rule, Degrees::one,
            fmt::format("b-connected:window={},extra={},seed={},rounds=endless", window, extra, written(seed))),
        window_(window),
        extra_(extra),
        seed_(seed),
        circle_(seed, circle, 0, n) {}
  [[nodiscard]] Round telling_rounds() const override {
    return ((EndlessGraph::telling_rounds() - 1) / window_ + 1) * window_;
  }

 private:
  [[nodiscard]] Peers peers(Client u, Round t) const override {
    const KeyedPermutation extras_of_round(seed_, extras, t, clients());
    Peers row;
    const Client place = circle_.inverse(u);
    if (clients() > 1 && circle_edge_comes(place, t)) row.out.push_back(at_place(place + 1));
    if (row.out.empty() && sends_extra(u, t)) {
      if (const Client to = extras_of_round(u); to != u) row.out.push_back(to);
    }
    const Client before = place > 0 ? place - 1 : clients() - 1;
    if (clients() > 1 && circle_edge_comes(before, t)) row.in.push_back(at_place(before));
    const Client other = extras_of_round.inverse(u);
    if (other != u && !circle_edge_comes(circle_.inverse(other), t) && sends_extra(other, t)) row.in.push_back(other);
    std::sort(row.in.begin(), row.in.end());
    return row;
  }
  [[nodiscard]] Client at_place(Client place) const { return circle_(place % clients()); }
  /// Whether the edge from this place of the circle to the next is there.
  [[nodiscard]] bool circle_edge_comes(Client place, Round t) const {
    const auto window = static_cast<std::uint64_t>(window_);
    return random_of(seed_, places, place, 0).below(window) == static_cast<std::uint64_t>(t) % window;
  }
  [[nodiscard]] bool sends_extra(Client u, Round t) const {
    return random_of(seed_, extra_draws, u, t).uniform() < extra_;
  }

  Round window_;
  double extra_;
  std::uint64_t seed_;
  KeyedPermutation circle_;
};

class ErdosRenyi final : public EndlessGraph {
 public:
  ErdosRenyi(Client n, WeightRule rule, double p, bool directed, std::uint64_t seed)
      : EndlessGraph(n, rule, Degrees::sender,
                     fmt::format("erdos-renyi:p={},directed={:d},seed={},rounds=endless", p, directed, written(seed))),
        connects_(p > 0 || n == 1),
        pairs_(seed, n, p, directed ? RandomPairs::Kind::directed : RandomPairs::Kind::undirected) {}
  [[nodiscard]] bool ever_connects() const override { return connects_; }

 private:
  [[nodiscard]] Peers peers(Client u, Round t) const override {
    std::vector<Client> receivers = pairs_.receivers(u, t);
    if (!pairs_.directed()) return {receivers, receivers};
    return {std::move(receivers), pairs_.senders(u, t)};
  }
  bool connects_;
  RandomPairs pairs_;
};

/// Everybody hops `degree` random distances along a circle through all in random order; distances and order are drawn
/// anew, so that each pair is joined with probability degree / (n − 1).
class RandomRegular final : public EndlessGraph {
 public:
  RandomRegular(Client n, WeightRule rule, Client degree, std::uint64_t seed)
      : EndlessGraph(n, rule, Degrees::regular,
                     fmt::format("random-regular:degree={},seed={},rounds=endless", degree, written(seed))),
        degree_(degree),
        seed_(seed) {}

 private:
  [[nodiscard]] Peers peers(Client u, Round t) const override {
    if (degree_ == 0) return {};
    const KeyedPermutation order(seed_, labels, t, clients());
    const KeyedPermutation distances(seed_, hops, t, clients() - 1);
    const Client place = order.inverse(u);
    Peers row;
    for (Client k = 0; k < degree_; ++k) {
      const Client hop = 1 + distances(k);
      row.out.push_back(order((place + hop) % clients()));
      row.in.push_back(order((place + clients() - hop) % clients()));
    }
    std::sort(row.out.begin(), row.out.end());
    std::sort(row.in.begin(), row.in.end());
    return row;
  }
  Client degree_;
  std::uint64_t seed_;
};

MadeEndless make_random_matching(const Spec& spec, Client n, WeightRule rule) {
  return std::make_unique<RandomMatching>(n, rule, seed_of(spec));
}

MadeEndless endless_one_peer_exponential(const Spec&, Client n, WeightRule rule) {
  return std::make_unique<OnePeerExponential>(n, rule);
}

MadeEndless make_b_connected(const Spec& spec, Client n, WeightRule rule) {
  const Round window = whole(spec, "window", 4, 1, 1'000'000);
  return std::make_unique<BConnected>(n, rule, window, probability(spec, "extra", 0.25), seed_of(spec));
}

MadeEndless make_erdos_renyi(const Spec& spec, Client n, WeightRule rule) {
  const double p = probability(spec, "p", std::min(1.0, 2 * std::log(n) / n));
  return std::make_unique<ErdosRenyi>(n, rule, p, whole(spec, "directed", 0, 0, 1) == 1, seed_of(spec));
}

MadeEndless make_random_regular(const Spec& spec, Client n, WeightRule rule) {
  const auto degree =
      static_cast<Client>(whole(spec, "degree", std::min<Client>(4, n - 1), std::min<Client>(1, n - 1), n - 1));
  return std::make_unique<RandomRegular>(n, rule, degree, seed_of(spec));
}

}  // namespace

const EndlessTable& endless_table() {
  static const Parameter seed{"seed", "of the draws (1)"};
  static const Parameter rounds{"rounds", "endless"};
  static const EndlessTable table(
      "endless topology family",
      {
          {"random-matching",
           "random pairs, both ways: one message a round; of an odd number one client rests",
           {seed, rounds},
           make_random_matching},
          {"one-peer-exponential",
           "as above, for any number of clients without a table",
           {rounds},
           endless_one_peer_exponential},
          {"b-connected",
           "every `window` rounds hold a hidden random circle through all, whose edges come one by one",
           {{"window", "rounds in which each edge of the circle comes once (4)"},
            {"extra", "probability that a client who would rest in a round sends to a random other (0.25)"},
            seed,
            rounds},
           make_b_connected},
          {"erdos-renyi",
           "every pair is joined at random, both ways",
           {{"p", "probability of a pair (min(1, 2 ln n / n))"},
            {"directed", "1 draws each direction by itself (0)"},
            seed,
            rounds},
           make_erdos_renyi},
          {"random-regular",
           "a digraph in which all send to as many and receive from as many",
           {{"degree", "receivers of each (4, or all others if fewer)"}, seed, rounds},
           make_random_regular},
      });
  return table;
}

}  // namespace starling
