/// Graphs whose rows follow from a client's number, without a table of edges.
#pragma once

#include <string>
#include <vector>

#include "starling/graph/graph.hpp"

namespace starling {

/// Base class of families that are fixed by their parameters. A family says who sends to whom in a round; this class
/// derives weights, digest and file from the rows. Contract of a family: a client has as many senders as receivers, and
/// the same number in all rounds; all clients reach each other over a period.
class IndexedGraph : public Graph {
 public:
  [[nodiscard]] Client clients() const override { return clients_; }
  [[nodiscard]] Round period() const override { return period_; }
  /// Throws UsageError for a client out of range or a negative round.
  [[nodiscard]] Links links(Client u, Round t) const override;
  /// Cost: all rows of a period.
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] WeightRule rule() const override { return rule_; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] bool ever_connects() const override { return true; }
  void require_sender_sums() const override;
  void require_receiver_sums() const override;
  [[nodiscard]] Round telling_rounds() const override { return period_; }
  /// Throws UsageError under `metropolis` if an edge of client 0 has no edge back.
  void require_symmetry() const;

 protected:
  /// `spec` appears in errors. Throws UsageError for explicit weights.
  IndexedGraph(Client clients, WeightRule rule, Round period, std::string spec);

  /// Receivers of client u in round t of the period, ascending.
  [[nodiscard]] virtual std::vector<Client> receivers(Client u, Round t) const = 0;
  /// Senders to client u, likewise. The default is right for symmetric graphs.
  [[nodiscard]] virtual std::vector<Client> senders(Client u, Round t) const { return receivers(u, t); }
  /// Number of receivers of client u, which is also the number of its senders.
  [[nodiscard]] virtual std::size_t degree(Client u) const = 0;

 private:
  [[nodiscard]] double weight_between(Client u, Client peer) const;
  void require_sums(double (*sum)(const Links&), const char* role, const char* remedy) const;

  Client clients_;
  WeightRule rule_;
  Round period_;
  std::string spec_;
};

}  // namespace starling
