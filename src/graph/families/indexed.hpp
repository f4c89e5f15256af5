/// Graphs whose rows follow from a client's number: no rank keeps more of them than it asks for.
#pragma once

#include <string>
#include <vector>

#include "starling/core/table.hpp"
#include "starling/graph/graph.hpp"

namespace starling {

/// Base of the families that are fixed by their parameters. A family says who sends to whom and how many that are;
/// weights follow by the rule here. In every family clients have as many senders as receivers, the same number in all
/// rounds, and reach each other over a period. Rows, digest and text are those of the topology of the same name in
/// `topology_table`, bit for bit.
class IndexedGraph : public Graph {
 public:
  [[nodiscard]] Client clients() const override { return clients_; }
  [[nodiscard]] Round period() const override { return period_; }
  /// Throws UsageError for a client out of range or a negative round.
  [[nodiscard]] Links links(Client u, Round t) const override;
  /// Costs a pass over all rows of a period.
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] WeightRule rule() const override { return rule_; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] bool ever_connects() const override { return true; }
  void require_sender_sums() const override;
  void require_receiver_sums() const override;
  [[nodiscard]] Round telling_rounds() const override { return period_; }
  /// Throws UsageError under `metropolis` where some edge has none back.
  void require_symmetry() const;

 protected:
  /// `spec` stands in errors. Throws UsageError for explicit weights.
  IndexedGraph(Client clients, WeightRule rule, Round period, std::string spec);

  /// Whom u sends to in round t of the period, ascending.
  [[nodiscard]] virtual std::vector<Client> receivers(Client u, Round t) const = 0;
  /// Who sends to u, likewise; as it stands here, of a symmetric graph.
  [[nodiscard]] virtual std::vector<Client> senders(Client u, Round t) const { return receivers(u, t); }
  /// How many receivers u has, and how many senders.
  [[nodiscard]] virtual std::size_t degree(Client u) const = 0;

 private:
  [[nodiscard]] double weight_between(Client u, Client peer) const;
  void require_sums(double (*sum)(const Links&), const char* role, const char* remedy) const;

  Client clients_;
  WeightRule rule_;
  Round period_;
  std::string spec_;
};

/// Families that need no table, by name; the maker's arguments are those of `topology_table`.
using IndexedTable = Table<Graph, Client, WeightRule>;
[[nodiscard]] const IndexedTable& indexed_table();

}  // namespace starling
