/// Graphs that are drawn anew in every round. Each client computes its own row alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/topology.hpp"

namespace starling {

/// A graph of an endless family. The family says who sends to whom; this class derives the weights.
class EndlessGraph final : public Graph {
 public:
  /// Knowledge of the weights at both ends of an edge.
  enum class Degrees {
    sender,   ///< only the sender knows its number of receivers: links have a `share`, arcs weigh 1; rule `sender`
    one,      ///< a sender has one receiver: weights are 1/2; rule `sender`
    regular,  ///< all clients have the same number of receivers and senders in a round; rules `sender`, `receiver`
    paired,   ///< regular and symmetric: rule `metropolis` too
  };
  struct Peers {
    std::vector<Client> out;  ///< receivers, ascending; a client that appears twice gets twice the share
    std::vector<Client> in;   ///< senders, likewise
  };
  /// Definition of a family: its parameters as text, and the peers of each client.
  struct Family {
    Degrees degrees;
    std::string spec;                               ///< the family with all its parameters
    std::function<Peers(Client u, Round t)> peers;  ///< of client u in round t ≥ 0, both in range
    Round period = 0;                               ///< rounds after which the graph repeats; 0: never
    Round cycle = 1;                                ///< rounds that belong together in a graph that never repeats
    bool ever_connects = true;
  };
  /// Throws UsageError for a rule that the family cannot follow.
  EndlessGraph(Client clients, WeightRule rule, Family family);

  [[nodiscard]] Client clients() const override { return clients_; }
  [[nodiscard]] Round period() const override { return family_.period; }
  [[nodiscard]] Links links(Client u, Round t) const override;
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] WeightRule rule() const override { return rule_; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] bool ever_connects() const override { return family_.ever_connects; }
  void require_sender_sums() const override {}
  void require_receiver_sums() const override;
  [[nodiscard]] Round telling_rounds() const override;

 private:
  Client clients_;
  WeightRule rule_;
  Family family_;
};

/// Endless families, by name.
[[nodiscard]] const TopologyTable& endless_table();
/// Text of --help on them.
[[nodiscard]] std::string endless_families_help();

}  // namespace starling
