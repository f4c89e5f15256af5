/// Graphs whose rows follow from a client's number, without a table of edges.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace starling {

/// A graph of a family that is fixed by its parameters. The family says who sends to whom in a round; this class
/// derives weights, digest and file from the rows. Contract of a family: a client has as many senders as receivers, and
/// the same number in all rounds; all clients reach each other over a period.
class IndexedGraph final : public Graph {
 public:
  /// The peers of client u in round t of the period, ascending.
  using Row = std::function<std::vector<Client>(Client u, Round t)>;
  /// Definition of a family: its parameters as text, and the peers of each client.
  struct Family {
    std::string spec;  ///< for errors
    Row receivers;
    std::function<std::size_t(Client u)> degree;  ///< number of receivers, which is also the number of senders
    Row senders = receivers;                      ///< other ones for graphs that are not symmetric
    Round period = 1;
  };
  /// Throws UsageError for explicit weights, and under `metropolis` if an edge of client 0 has no edge back.
  IndexedGraph(Client clients, WeightRule rule, Family family);

  [[nodiscard]] Client clients() const override { return clients_; }
  [[nodiscard]] Round period() const override { return family_.period; }
  /// Throws UsageError for a client out of range or a negative round.
  [[nodiscard]] Links links(Client u, Round t) const override;
  /// Cost: all rows of a period.
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] WeightRule rule() const override { return rule_; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] bool ever_connects() const override { return true; }
  void require_sender_sums() const override;
  void require_receiver_sums() const override;
  [[nodiscard]] Round telling_rounds() const override { return family_.period; }

 private:
  [[nodiscard]] double weight_between(Client u, Client peer) const;
  void require_symmetry() const;
  void require_sums(double (*sum)(const Links&), const char* role, const char* remedy) const;

  Client clients_;
  WeightRule rule_;
  Family family_;
};

}  // namespace starling
