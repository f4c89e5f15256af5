/// Random permutations of {0, …, n − 1} that need no table: either direction of one element costs O(1).
#pragma once

#include <cstdint>

#include "core/links.hpp"

namespace starling {

/// A Feistel network over the digits of a number to two bases of about √n, walked until it lands below n (Black
/// and Rogaway 2002, "Ciphers with arbitrary finite domains"); round functions are addressed draws. Not for secrets.
class KeyedPermutation {
 public:
  /// Another permutation for each (seed, stream, t); stream < 2^15, t ≥ 0, 1 ≤ n < 2^31.
  KeyedPermutation(std::uint64_t seed, std::uint64_t stream, Round t, Client n);

  [[nodiscard]] Client size() const { return static_cast<Client>(size_); }
  /// Image of x in [0, n).
  [[nodiscard]] Client operator()(Client x) const { return walk(x, &KeyedPermutation::forward); }
  /// Preimage of y in [0, n).
  [[nodiscard]] Client inverse(Client y) const { return walk(y, &KeyedPermutation::backward); }

 private:
  struct Digits {
    std::uint64_t high;  ///< below high_base_
    std::uint64_t low;   ///< below low_base_
  };
  [[nodiscard]] std::uint64_t draw(std::uint64_t round, std::uint64_t digit, std::uint64_t base) const;
  [[nodiscard]] Digits forward(Digits digits) const;
  [[nodiscard]] Digits backward(Digits digits) const;
  /// The first number below n after so many steps.
  [[nodiscard]] Client walk(Client from, Digits (KeyedPermutation::*step)(Digits) const) const;

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t t_;
  std::uint64_t size_;
  std::uint64_t pairs_;  ///< of rounds
  std::uint64_t high_base_;
  std::uint64_t low_base_;
};

}  // namespace starling
