/// The public graph of the pairs of clients that share noise (docs/methods/privacy.md, "Noise between pairs").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/links.hpp"

namespace starling {

/// An undirected graph without loops or repeated edges. All clients know it.
class PairGraph {
 public:
  using Pair = std::pair<Client, Client>;
  /// Most clients of which all may be paired: the list of partners has a number for each ordered pair.
  static constexpr Client most_clients_of_all = 4096;

  /// All pairs of `clients` clients. Throws UsageError for more than `most_clients_of_all`.
  [[nodiscard]] static PairGraph all(Client clients);
  /// These pairs; loops and repeats are left out. Throws UsageError for clients that are not there.
  [[nodiscard]] static PairGraph of(Client clients, const std::vector<Pair>& pairs);
  /// This graph, and random matchings of all clients from a public seed until each client has `least` partners, or
  /// all others.
  [[nodiscard]] PairGraph filled(std::size_t least, std::uint64_t seed) const;

  /// The graph between these of its clients, ascending: client i of it is some[i].
  [[nodiscard]] PairGraph among(const std::vector<Client>& some) const;
  /// The graph whose client i has the number numbers[i], ascending, among `clients`. The others have no partners.
  [[nodiscard]] PairGraph numbered(const std::vector<Client>& numbers, Client clients) const;

  [[nodiscard]] Client clients() const { return static_cast<Client>(partners_.size()); }
  /// The partners of client u, ascending.
  [[nodiscard]] const std::vector<Client>& partners(Client u) const { return partners_[static_cast<std::size_t>(u)]; }
  [[nodiscard]] std::size_t degree(Client u) const { return partners(u).size(); }
  [[nodiscard]] std::size_t least_degree() const;
  [[nodiscard]] std::size_t most_degree() const;
  /// Number of pairs, and Σ_u degree(u)².
  [[nodiscard]] std::int64_t pairs() const;
  [[nodiscard]] double square_degrees() const;
  /// Whether every client has all others for partners.
  [[nodiscard]] bool complete() const { return clients() > 0 && least_degree() + 1 == partners_.size(); }
  /// SHA-256 of the clients and pairs.
  [[nodiscard]] std::string digest() const;

 private:
  explicit PairGraph(Client clients) : partners_(static_cast<std::size_t>(clients)) {}
  [[nodiscard]] bool has(Client u, Client v) const;
  void add(Client u, Client v);

  std::vector<std::vector<Client>> partners_;
};

}  // namespace starling
