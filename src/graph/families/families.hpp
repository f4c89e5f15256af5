/// Parameters of topology families, and the makers that draw at random. The table of families is in families.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/topology.hpp"

namespace starling::families {

using Made = std::unique_ptr<Graph>;

/// The topology with these edges in every phase, and with these phases. Throws UsageError for explicit weights.
[[nodiscard]] Made finish(const Spec& spec, Client n, WeightRule rule, const std::vector<Edge>& edges,
                          const std::vector<Topology::Phase>& phases = {});
/// Adds (u, v) and (v, u).
void add_both_ways(std::vector<Edge>& edges, Client u, Client v);
/// A whole number of the spec; throws UsageError beyond [least, most].
[[nodiscard]] std::int64_t whole(const Spec& spec, std::string_view key, std::int64_t otherwise, std::int64_t least,
                                 std::int64_t most);
/// A probability of the spec; throws UsageError beyond [0, 1].
[[nodiscard]] double probability(const Spec& spec, std::string_view key, double otherwise);
/// `seed=`, 1 where it is left out.
[[nodiscard]] std::uint64_t seed_of(const Spec& spec);
/// Throws UsageError for more edges than a topology may have, before they are made.
void check_edges_fit(const Spec& spec, double edges, std::string_view remedy);

/// Sides of a grid or torus.
struct Sides {
  Client rows = 1;
  Client columns = 1;
};
/// The sides that the spec names. A missing side follows from the other one; without both they are as equal as n
/// allows. Throws UsageError where n clients do not fill them.
[[nodiscard]] Sides sides_of(const Spec& spec, Client n);
/// Throws UsageError for numbers of clients other than powers of two.
void check_hypercube(const Spec& spec, Client n);

[[nodiscard]] Made make_random_circles(const Spec& spec, Client n, WeightRule rule);
[[nodiscard]] Made make_erdos_renyi(const Spec& spec, Client n, WeightRule rule);
[[nodiscard]] Made make_random_regular(const Spec& spec, Client n, WeightRule rule);
[[nodiscard]] Made make_small_world(const Spec& spec, Client n, WeightRule rule);
[[nodiscard]] Made make_random_matching(const Spec& spec, Client n, WeightRule rule);
[[nodiscard]] Made make_b_connected(const Spec& spec, Client n, WeightRule rule);

}  // namespace starling::families
