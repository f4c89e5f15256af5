/// What all graphs are that a topology file can describe, written out or endless: everybody present, nothing lost.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "starling/graph/schedule.hpp"

namespace starling {

/// How edge weights come about (A[to, from]; every client also keeps a share of its own).
enum class WeightRule {
  explicit_weights,  ///< written in the file, self loops too
  sender,            ///< equal shares per sender over its out-neighbours and itself: sender sums are one
  receiver,          ///< equal shares per receiver over its in-neighbours and itself: receiver sums are one
  metropolis,        ///< 1 / (1 + max(deg u, deg v)) on a symmetric graph: both sums are one
};

/// The name that files and `--weights` use: `explicit`, `sender`, `receiver`, `metropolis`.
[[nodiscard]] std::string_view name_of(WeightRule rule);
/// The rule of that name; throws UsageError listing the known names.
[[nodiscard]] WeightRule parse_weight_rule(std::string_view name);

class Graph : public Schedule {
 public:
  [[nodiscard]] virtual WeightRule rule() const = 0;
  /// The `.topo` file that gives this graph back when parsed.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Whether every client reaches every other some day, with probability one where it is drawn at random.
  [[nodiscard]] virtual bool ever_connects() const = 0;
  /// Throws UsageError naming the first client whose weights, as sender, do not sum to one within 1e-9.
  virtual void require_sender_sums() const = 0;
  /// The same for the weights that a client receives.
  virtual void require_receiver_sums() const = 0;
  /// How many of its rounds, from the first, show what it is like: its period if it has one, else 64, fewer of more
  /// than 3,125 clients, and whole cycles where it has any.
  [[nodiscard]] virtual Round telling_rounds() const = 0;
};

/// The graph of a family, by its spec: materialised phases, or worked out anew in every round where the spec says
/// `rounds=endless`. Throws UsageError.
[[nodiscard]] std::unique_ptr<Graph> make_graph(std::string_view spec, Client clients, WeightRule rule);
/// The graph of a `.topo` file's text; `name` stands in errors as "name:line: …". Throws UsageError.
[[nodiscard]] std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& name);
/// The graph of a file, of any kind that Topology::read knows. Throws UsageError, also when it cannot be read.
[[nodiscard]] std::unique_ptr<Graph> read_graph(const std::string& path);

}  // namespace starling
