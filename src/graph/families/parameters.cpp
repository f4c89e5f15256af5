// Parameters that specs of several topology families have.
#include <bit>
#include <cmath>

#include "families.hpp"

namespace starling::families {

Made finish(const Spec& spec, Client n, WeightRule rule, const std::vector<Edge>& edges,
            const std::vector<Topology::Phase>& phases) {
  check(rule != WeightRule::explicit_weights,
        "{} with explicit weights: a generator writes no weights. Use sender, receiver or metropolis.", spec.text());
  return std::make_unique<Topology>(n, rule, edges, phases, spec.text());
}

void add_both_ways(std::vector<Edge>& edges, Client u, Client v) {
  edges.push_back({u, v});
  edges.push_back({v, u});
}

std::int64_t whole(const Spec& spec, std::string_view key, std::int64_t otherwise, std::int64_t least,
                   std::int64_t most) {
  const long long value = spec.integer(key, otherwise);
  check(value >= least && value <= most, "{}: {}={}: must be from {} to {} here. Correct it.", spec.text(), key, value,
        least, most);
  return value;
}

double probability(const Spec& spec, std::string_view key, double otherwise) {
  const double p = spec.number(key, otherwise);
  check(p >= 0 && p <= 1, "{}: {}={}: a probability, from 0 to 1. Correct it.", spec.text(), key, p);
  return p;
}

std::uint64_t seed_of(const Spec& spec) {
  return static_cast<std::uint64_t>(spec.integer("seed", 1));
}

void check_edges_fit(const Spec& spec, double edges, std::string_view remedy) {
  check(edges <= 3e7, "{}: about {:.0f} edges: too many for memory. {}.", spec.text(), edges, remedy);
}

Sides sides_of(const Spec& spec, Client n) {
  Client side = static_cast<Client>(std::sqrt(static_cast<double>(n)));
  while (n % side != 0) --side;
  Sides sides{side, n / side};
  const bool rows = spec.find("rows").has_value();
  const bool columns = spec.find("columns").has_value();
  if (rows) sides.rows = static_cast<Client>(whole(spec, "rows", 1, 1, n));
  if (columns) sides.columns = static_cast<Client>(whole(spec, "columns", 1, 1, n));
  if (rows && !columns) sides.columns = n / sides.rows;
  if (columns && !rows) sides.rows = n / sides.columns;
  check(static_cast<std::int64_t>(sides.rows) * sides.columns == n,
        "{}: {} clients do not fill {} rows and {} columns: rows times columns is the number of clients. Correct one.",
        spec.text(), n, sides.rows, sides.columns);
  return sides;
}

void check_hypercube(const Spec& spec, Client n) {
  check(std::has_single_bit(static_cast<std::uint64_t>(n)),
        "{}: {} clients: a hypercube has 1, 2, 4, 8, … of them. Use such a number, or exponential.", spec.text(), n);
}

}  // namespace starling::families
