// Random circles: a fixed random graph of which nobody keeps more than the rows that it asks for.
#include "families.hpp"
#include "graph/permutation.hpp"
#include <algorithm>

#include "starling/graph/families/endless.hpp"

namespace starling::families {

namespace {

/// Circles through all clients, each in a random order of its own, both ways; an edge that several have counts as
/// often. Random regular graphs of even degree are like that (Kim and Wormald 2001), and these are connected always.
class RandomCircles final : public EndlessGraph {
 public:
  RandomCircles(Client n, WeightRule rule, Client degree, std::uint64_t seed)
      : EndlessGraph(n, rule, Degrees::paired,
                     fmt::format("random-circles:degree={},seed={}", degree, static_cast<std::int64_t>(seed))) {
    constexpr std::uint64_t circles = 8;  // a part of addresses; those of endless_families.cpp end before
    for (Client k = 0; 2 * k < degree; ++k) orders_.emplace_back(seed, circles, k, n);
  }
  [[nodiscard]] Round period() const override { return 1; }
  [[nodiscard]] Round telling_rounds() const override { return 1; }

 private:
  [[nodiscard]] Peers peers(Client u, Round) const override {
    if (clients() == 1) return {};
    std::vector<Client> near;
    for (const KeyedPermutation& order : orders_) {
      const Client place = order.inverse(u);
      near.push_back(order(place + 1 < clients() ? place + 1 : 0));
      near.push_back(order(place > 0 ? place - 1 : clients() - 1));
    }
    std::sort(near.begin(), near.end());
    return {near, near};
  }
  std::vector<KeyedPermutation> orders_;
};

}  // namespace

Made make_random_circles(const Spec& spec, Client n, WeightRule rule) {
  const auto degree = static_cast<Client>(whole(spec, "degree", 8, 2, 1'000));
  check(degree % 2 == 0, "{}: degree={} (each circle gives a client two neighbours: an even number) correct it",
        spec.text(), degree);
  return std::make_unique<RandomCircles>(n, rule, degree, seed_of(spec));
}

}  // namespace starling::families
