/// Erdős–Rényi digraphs and graphs, drawn so that one client's row costs O(√(n · degree)) and not O(n).
#pragma once

#include <cstdint>
#include <vector>

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

/// Every ordered pair (or every unordered pair) of different clients is joined with probability p, independently, anew
/// in every round. Pairs are the cells of an n × n matrix that is cut into square blocks of side 1/√p, about one pair
/// each; the pairs of a block are found by geometric skips (Batagelj and Brandes 2005) addressed by (block, round), so
/// that both ends of a pair find it.
class RandomPairs {
 public:
  enum class Kind { directed, undirected };
  /// p in [0, 1].
  RandomPairs(std::uint64_t seed, Client n, double p, Kind kind);

  [[nodiscard]] bool directed() const { return kind_ == Kind::directed; }
  /// Clients to which u sends in round t, ascending.
  [[nodiscard]] std::vector<Client> receivers(Client u, Round t) const;
  /// Clients that send to u in round t, ascending; equal to receivers where pairs are unordered.
  [[nodiscard]] std::vector<Client> senders(Client u, Round t) const;
  /// Number of blocks in a row or column: the cost of one client's row.
  [[nodiscard]] Client blocks_of_row() const { return blocks_; }

 private:
  /// Calls found(row, column) for each pair of the block, rows and columns counted over all clients.
  template <class Found>
  void for_each_pair(Client block_row, Client block_column, Round t, Found found) const;
  [[nodiscard]] std::vector<Client> line(Client u, Round t, bool as_sender) const;
  [[nodiscard]] std::vector<Client> both_ways(Client u, Round t) const;

  std::uint64_t seed_;
  Client clients_;
  double probability_;
  Kind kind_;
  Client side_;    ///< side of a block
  Client blocks_;  ///< number of blocks in a row
};

}  // namespace starling
