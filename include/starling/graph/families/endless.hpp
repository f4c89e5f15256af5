/// Graphs that are drawn anew in every round and never repeat, each client working out its own row alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "starling/core/table.hpp"
#include "starling/graph/graph.hpp"

namespace starling {

/// Base of the endless families. A family says who sends to whom; weights follow by the rule here.
class EndlessGraph : public Graph {
 public:
  /// How much of the weights is known at both ends of an edge.
  enum class Degrees {
    sender,   ///< how many share is known to the sender only: links have a `share`, arcs weigh 1; rule `sender`
    one,      ///< whoever sends has one receiver: weights are 1/2; rule `sender`
    regular,  ///< everybody has as many receivers as senders, in each round: both sums are one; `sender`, `receiver`
    paired,   ///< the same, and the graph is symmetric: `metropolis` too
  };

  [[nodiscard]] Client clients() const override { return clients_; }
  [[nodiscard]] Round period() const override { return 0; }
  [[nodiscard]] Links links(Client u, Round t) const final;
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] WeightRule rule() const override { return rule_; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] bool ever_connects() const override { return true; }
  void require_sender_sums() const override {}
  void require_receiver_sums() const override;
  [[nodiscard]] Round telling_rounds() const override;

 protected:
  /// `spec` is the family with all its parameters. Throws UsageError for a rule that the family cannot follow.
  EndlessGraph(Client clients, WeightRule rule, Degrees degrees, std::string spec);

  struct Peers {
    std::vector<Client> out;  ///< ascending; who is there twice gets twice the share of others
    std::vector<Client> in;   ///< likewise
  };
  /// Of client u in round t ≥ 0, both in range.
  [[nodiscard]] virtual Peers peers(Client u, Round t) const = 0;

 private:
  Client clients_;
  WeightRule rule_;
  Degrees degrees_;
  std::string spec_;
};

/// Generators of endless graphs, by name; the maker's arguments are those of `topology_table`.
using EndlessTable = Table<EndlessGraph, Client, WeightRule>;
[[nodiscard]] const EndlessTable& endless_table();

}  // namespace starling
