/// Erdős–Rényi digraphs and graphs, drawn so that one client's row costs O(√(n · degree)) and not O(n).
#pragma once

#include <cstdint>
#include <vector>

#include "core/links.hpp"

namespace starling {

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
