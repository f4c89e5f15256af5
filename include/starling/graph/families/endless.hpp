/// Graphs that are drawn anew in every round. Each client computes its own row alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "starling/core/table.hpp"
#include "starling/graph/graph.hpp"

namespace starling {

/// Base class of the endless families. A family says who sends to whom; this class derives the weights.
class EndlessGraph : public Graph {
 public:
  /// Knowledge of the weights at both ends of an edge.
  enum class Degrees {
    sender,   ///< only the sender knows its number of receivers: links have a `share`, arcs weigh 1; rule `sender`
    one,      ///< a sender has one receiver: weights are 1/2; rule `sender`
    regular,  ///< all clients have the same number of receivers and senders in a round; rules `sender`, `receiver`
    paired,   ///< regular and symmetric: rule `metropolis` too
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
  /// `spec`: the family with all its parameters. Throws UsageError for a rule that the family cannot follow.
  EndlessGraph(Client clients, WeightRule rule, Degrees degrees, std::string spec);

  struct Peers {
    std::vector<Client> out;  ///< receivers, ascending; a client that appears twice gets twice the share
    std::vector<Client> in;   ///< senders, likewise
  };
  /// Peers of client u in round t ≥ 0, both in range.
  [[nodiscard]] virtual Peers peers(Client u, Round t) const = 0;

 private:
  Client clients_;
  WeightRule rule_;
  Degrees degrees_;
  std::string spec_;
};

/// Endless families, by name. The maker's arguments are the number of clients and the weight rule.
using EndlessTable = Table<EndlessGraph, Client, WeightRule>;
[[nodiscard]] const EndlessTable& endless_table();

}  // namespace starling
