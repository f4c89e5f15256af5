/// For each row of the domain table, specs to test it with and a sampler of its points that uses none of its own code.
/// A new row needs an entry here: without one the conformance tests fail and say so.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"
#include "mirror/mirror.hpp"

namespace starling::testing_support {

inline Vector random_normal(std::size_t d, double size, AddressedRandom& random) {
  Vector x(d);
  for (double& value : x) value = size * random.normal();
  return x;
}

/// Mass spread over d coordinates; gamma draws of a small shape put most of it on few.
inline Vector random_mass(std::size_t d, double mass, AddressedRandom& random) {
  const double shape = random.below(2) == 0 ? 1 : 0.3;
  Vector x(d);
  for (double& value : x) value = random.gamma(shape);
  x[random.below(d)] += 1e-3;  // never all zero
  scale(mass / sum(x), x);
  return x;
}

/// A third of all points lie on the boundary's corners, where projections and steps end up.
inline bool at_a_corner(AddressedRandom& random) {
  return random.below(3) == 0;
}

inline Vector point_of_ball(std::size_t d, double radius, AddressedRandom& random) {
  Vector x = random_normal(d, 1, random);
  scale(radius / norm2(x) * (at_a_corner(random) ? 1 : random.uniform()), x);
  return x;
}

inline Vector point_of_box(std::size_t d, double low, double high, AddressedRandom& random) {
  const bool corner = at_a_corner(random);
  Vector x(d);
  for (double& value : x) value = corner ? (random.below(2) == 0 ? low : high) : low + (high - low) * random.uniform();
  return x;
}

inline Vector point_of_simplex(std::size_t d, double mass, AddressedRandom& random) {
  if (!at_a_corner(random)) return random_mass(d, mass, random);
  Vector x(d);
  x[random.below(d)] = mass;
  return x;
}

inline Vector point_of_l1ball(std::size_t d, double radius, AddressedRandom& random) {
  Vector x = point_of_simplex(d, radius * (at_a_corner(random) ? 1 : random.uniform()), random);
  for (double& value : x) value *= random.below(2) == 0 ? 1 : -1;
  return x;
}

struct DomainExample {
  std::string spec;
  Vector (*point)(std::size_t d, AddressedRandom& random);
};

/// How gtest shows one.
inline void PrintTo(const DomainExample& example, std::ostream* out) {
  *out << example.spec;
}

inline const std::vector<DomainExample>& domain_examples() {
  static const std::vector<DomainExample> examples{
      {"free", [](std::size_t d, AddressedRandom& random) { return random_normal(d, 3, random); }},
      {"ball:2", [](std::size_t d, AddressedRandom& random) { return point_of_ball(d, 2, random); }},
      {"box:-1,2.5", [](std::size_t d, AddressedRandom& random) { return point_of_box(d, -1, 2.5, random); }},
      {"box:1,2", [](std::size_t d, AddressedRandom& random) { return point_of_box(d, 1, 2, random); }},
      {"orthant",
       [](std::size_t d, AddressedRandom& random) {
         Vector x = point_of_box(d, 0, 1, random);
         for (double& value : x) value *= 4 * random.gamma(1);
         return x;
       }},
      {"simplex", [](std::size_t d, AddressedRandom& random) { return point_of_simplex(d, 1, random); }},
      {"simplex:3", [](std::size_t d, AddressedRandom& random) { return point_of_simplex(d, 3, random); }},
      {"l1ball:1.5", [](std::size_t d, AddressedRandom& random) { return point_of_l1ball(d, 1.5, random); }},
  };
  return examples;
}

}  // namespace starling::testing_support
