/// Graphs that a topology file can describe, fixed or endless. All clients are present, and no message is lost.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "graph/schedule.hpp"

namespace starling {

/// The weight that a client with `degree` neighbours gives to each of them and to itself.
[[nodiscard]] inline double equal_share(std::size_t degree) {
  return 1.0 / static_cast<double>(degree + 1);
}

/// Rules for edge weights A[to, from]. Every client also keeps a share of its own.
enum class WeightRule {
  explicit_weights,  ///< written in the file, self loops too
  sender,            ///< equal shares per sender over its out-neighbours and itself: sender sums are one
  receiver,          ///< equal shares per receiver over its in-neighbours and itself: receiver sums are one
  metropolis,        ///< 1 / (1 + max(deg u, deg v)) on a symmetric graph: both sums are one
};

/// The name in files and for `--weights`: `explicit`, `sender`, `receiver`, `metropolis`.
[[nodiscard]] std::string_view name_of(WeightRule rule);
/// The rule of a name; throws UsageError listing the known names.
[[nodiscard]] WeightRule parse_weight_rule(std::string_view name);

/// A schedule with a weight rule and a file format.
class Graph : public Schedule {
 public:
  [[nodiscard]] virtual WeightRule rule() const = 0;
  /// The text of a `.topo` file that parses to this graph.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Whether every client eventually reaches every other one; with probability one for random graphs.
  [[nodiscard]] virtual bool ever_connects() const = 0;
  /// Throws UsageError naming the first client whose weights as sender do not sum to one within 1e-9.
  virtual void require_sender_sums() const = 0;
  /// The same for the weights that a client receives.
  virtual void require_receiver_sums() const = 0;
  /// Number of first rounds that represent the graph: the period if there is one; otherwise 64, fewer for more than
  /// 3,125 clients, in whole cycles if the graph has cycles.
  [[nodiscard]] virtual Round telling_rounds() const = 0;
};

/// The family of a run that names no graph. Any two of n clients hear of each other within ⌈log2 n⌉ rounds.
inline constexpr const char* usual_family = "exponential";

/// The graph of a family by its spec; drawn anew in every round if the spec says `rounds=endless`. Throws UsageError.
[[nodiscard]] std::unique_ptr<Graph> make_graph(std::string_view spec, Client clients, WeightRule rule);
/// The graph of a `.topo` file's text. Errors begin "name:line: …". Throws UsageError.
[[nodiscard]] std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& name);
/// The graph of a file of any format that Topology::read knows. Throws UsageError, also for an unreadable file.
[[nodiscard]] std::unique_ptr<Graph> read_graph(const std::string& path);

}  // namespace starling
