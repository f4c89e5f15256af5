/// Analysis of a topology for `starling topology check`: sums, connectivity, bias, speed of mixing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/topology.hpp"

namespace starling {

struct MeasuredRate {
  double contraction = 1;  ///< factor of the span per round; 0 where it is gone
  std::optional<Round> rounds_to_1e_3;
};

/// Push-sum of random numbers over so many rounds, or until their span has fallen by 1e-9, which is about as far as
/// rounding lets it be seen. Needs sender sums of one and own shares above zero.
[[nodiscard]] MeasuredRate measure_rate(const Topology& topology, Round rounds);

struct Range {
  double min = 0;
  double max = 0;
  /// Whether the whole range is one within `sum_tolerance`.
  [[nodiscard]] bool is_one() const { return min >= 1 - sum_tolerance && max <= 1 + sum_tolerance; }
};

/// Figures of a topology.
struct TopologyAnalysis {
  Range sender_sums;  ///< over clients and phases
  Range receiver_sums;
  std::int64_t edges = 0;                ///< distinct pairs (from, to) over all phases, self loops not counted
  std::vector<bool> strongly_connected;  ///< per phase
  /// Least B such that every union of B consecutive rounds is strongly connected.
  std::optional<Round> joint_window;
  std::string apart;  ///< why there is none, and what to do; empty with a joint window
  /// Longest shortest path in the union of all phases; none if the union is not strongly connected, or beyond 1,000
  /// clients.
  std::optional<std::int64_t> diameter;
  /// Limit weight of each client under plain mixing, summing to one. With receiver sums of one: the left Perron vector
  /// of the period's product, the weight of each start in the consensus. Otherwise the right one: w/n tends to it under
  /// push-sum. Empty without a joint window, or if the Perron vector is not unique (possible without self loops only).
  std::vector<double> perron;
  /// max |n·perron − 1|: 0 for averaging without bias, NaN if perron is empty.
  double bias = 0;
  /// Modulus of the second eigenvalue of the period's product over the modulus of the first, per round. 0 if
  /// disagreement is gone after finitely many rounds. NaN if more than 1,000 clients mix too slowly for the iterations.
  double contraction = 0;
  /// 1 − contraction: the spectral gap per round.
  double gap = 0;
  /// Tolerance of an iterated contraction, for more than 1,000 clients. On symmetric graphs with a period of one round
  /// some eigenvalue is within it; on others it is an estimate. 0 for dense eigenvalues and for exact averages.
  double contraction_tolerance = 0;
  /// Rounds until disagreement has fallen by 1e-3 at this rate, no fewer than `joint_window`; none if it does not fall,
  /// or if the rate is not known.
  std::optional<Round> rounds_to_1e_3;
};

/// Clients of the largest graph that a run analyses before it starts.
inline constexpr Client most_clients_analysed = 200;

/// Why clients never agree, whatever the weights sum to, and what to do; empty if they agree, or if the rate is not
/// known.
[[nodiscard]] std::string why_no_agreement(const TopologyAnalysis& analysis);
/// The same of a graph that connects, for a run; empty too for a graph of more than `most_clients_analysed` clients or
/// without end.
[[nodiscard]] std::string why_no_agreement(const Graph& graph);

/// Joint window of a graph, in rounds; none for a graph that never connects all clients, has more than
/// `most_clients_analysed` of them, or has no end.
[[nodiscard]] std::optional<Round> joint_window_of(const Graph& graph);

/// Clients of the largest graph whose contraction a run works out.
inline constexpr Client most_clients_of_contraction = 20'000;

/// Contraction per round of a graph of up to `most_clients_of_contraction` clients; none of a larger one, or if the
/// rate is not known. Of more than `most_clients_analysed`, and of a graph without end, it is measured over 128 rounds.
[[nodiscard]] std::optional<double> contraction_of(const Graph& graph);

/// Analyses a topology: dense eigenvalues up to 1,000 clients, Krylov iterations (Spectra) beyond. Throws nothing.
[[nodiscard]] TopologyAnalysis analyse(const Topology& topology);

/// The part of a graph that is analysed and drawn: the graph itself, or the first rounds of an endless graph.
class GraphSample {
 public:
  /// Takes `rounds` rounds of an endless graph, by default its `telling_rounds`. Keeps a reference to the graph.
  explicit GraphSample(const Graph& graph, std::optional<Round> rounds = std::nullopt);
  GraphSample(const GraphSample&) = delete;
  GraphSample& operator=(const GraphSample&) = delete;
  /// The sample as a table; the rounds of an endless graph as if they repeated.
  [[nodiscard]] const Topology& topology() const { return *topology_; }
  /// Number of rounds taken of an endless graph; none if the sample is the whole graph.
  [[nodiscard]] std::optional<Round> rounds() const { return rounds_; }

 private:
  std::optional<Topology> written_;
  const Topology* topology_;
  std::optional<Round> rounds_;
};

/// Analyses a sample. For an endless graph there is no limit weight unless all sums are one, and the rate of mixing is
/// measured: the fall of the span of push-sum's estimates over the sampled rounds.
[[nodiscard]] TopologyAnalysis analyse(const GraphSample& sample);

/// When the phase is: "round 0 of every 6", "rounds 1 to 2 of every 6"; "round 0" where rounds never repeat.
[[nodiscard]] std::string name_of_phase(const GraphSample& sample, std::size_t phase);

/// Graphviz DOT: one digraph, a cluster per phase where there are several. An edge is as wide as its weight; two
/// opposite edges of one weight are one line. A node's colour is the share that the client keeps. Up to 32 clients,
/// several phases, and graphs whose edges join neighbours stand on circles; others are laid out by forces.
[[nodiscard]] std::string to_dot(const GraphSample& sample);
[[nodiscard]] inline std::string to_dot(const Topology& topology) {
  return to_dot(GraphSample(topology));
}

}  // namespace starling
