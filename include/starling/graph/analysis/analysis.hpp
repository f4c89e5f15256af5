/// What `starling topology check` knows of a topology.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/graph/topology.hpp"

namespace starling {

struct Range {
  double min = 0;
  double max = 0;
  /// Whether all of it is one within `sum_tolerance`.
  [[nodiscard]] bool is_one() const { return min >= 1 - sum_tolerance && max <= 1 + sum_tolerance; }
};

struct TopologyAnalysis {
  Range sender_sums;  ///< over clients and phases
  Range receiver_sums;
  std::int64_t edges = 0;                ///< distinct pairs (from, to) over all phases, self loops not counted
  std::vector<bool> strongly_connected;  ///< per phase
  /// Least B such that every union of B consecutive rounds is strongly connected.
  std::optional<Round> joint_window;
  /// Longest shortest path in the union of all phases; none where that is not strongly connected, or beyond 1,000
  /// clients.
  std::optional<std::int64_t> diameter;
  /// Limit weight of each client under plain mixing, summing to one: the left Perron vector of the period's product
  /// where receiver sums are one (the weight of each start in the consensus), else the right one (w/n tends to it under
  /// push-sum; how much a client's steps count if they are not divided by w). Empty where no joint window exists or
  /// where the product has no single such vector (possible without self loops only).
  std::vector<double> perron;
  /// max |n·perron − 1|; 0 is what averaging without bias has. NaN where perron is empty.
  double bias = 0;
  /// Modulus of the second eigenvalue of the period's product over that of the first, per round; 0 where disagreement
  /// is gone after finitely many rounds. NaN where more than 1,000 clients mix too slowly for the iteration.
  double contraction = 0;
  /// 1 − contraction: the spectral gap per round; of graphs whose rates are exact to four digits however small it is,
  /// elsewhere as far as a number beside one tells it.
  double gap = 0;
  /// How far the contraction may be off, where iterations have told a few digits only: on symmetric graphs with a
  /// period of one round some eigenvalue is that near, elsewhere it is an estimate. 0 where the gap is known as it
  /// says; NaN where nothing is known.
  double contraction_tolerance = 0;
  /// Rounds until disagreement has fallen by 1e-3 at that rate; none where it does not, or where the rate is not known.
  std::optional<Round> rounds_to_1e_3;
};

/// Throws nothing; dense eigenvalues up to 1,000 clients. Beyond, characters where all clients of a cycle, of a product
/// of cycles (tori, hypercubes) or of a path have the same rows and both sums are one; iterations elsewhere.
[[nodiscard]] TopologyAnalysis analyse(const Topology& topology);

/// What there is to analyse and draw of a graph: the graph itself or, of an endless one, its first rounds written out.
class GraphSample {
 public:
  /// `rounds` of an endless graph; its `telling_rounds` where none are asked for. Keeps a reference to the graph.
  explicit GraphSample(const Graph& graph, std::optional<Round> rounds = std::nullopt);
  GraphSample(const GraphSample&) = delete;
  GraphSample& operator=(const GraphSample&) = delete;
  /// Of a graph that never repeats, its first rounds as if they did.
  [[nodiscard]] const Topology& topology() const { return *topology_; }
  /// How many rounds were taken of a graph that goes on otherwise; none where the sample is all there is.
  [[nodiscard]] std::optional<Round> rounds() const { return rounds_; }

 private:
  std::optional<Topology> written_;
  const Topology* topology_;
  std::optional<Round> rounds_;
};

/// The same of a sample. Where a graph goes on otherwise than its sample, there is no limit weight unless all sums are
/// one, and the rate of mixing is measured: how the span of push-sum's estimates falls over these rounds.
[[nodiscard]] TopologyAnalysis analyse(const GraphSample& sample);

/// Graphviz DOT: one digraph with weights on the edges, a cluster per phase where there are several.
[[nodiscard]] std::string to_dot(const GraphSample& sample);
[[nodiscard]] inline std::string to_dot(const Topology& topology) {
  return to_dot(GraphSample(topology));
}

}  // namespace starling
