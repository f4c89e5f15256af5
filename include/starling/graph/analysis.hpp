/// What `starling topology check` knows of a topology.
#pragma once

#include <optional>
#include <vector>

#include "starling/graph/topology.hpp"

namespace starling {

struct Range {
  double min = 0;
  double max = 0;
};

struct TopologyAnalysis {
  Range sender_sums;    ///< over clients and phases
  Range receiver_sums;
  std::vector<bool> strongly_connected;  ///< per phase
  std::optional<Round> joint_window;     ///< least B such that every union of B consecutive rounds is strongly connected
  /// Limit weight of each client under plain mixing, summing to one: the left Perron vector of the period's product where receiver
  /// sums are one (the weight of each start in the consensus), else the right one (w/n tends to it under push-sum; how much a
  /// client's steps count if they are not divided by w). Empty where no joint window exists.
  std::vector<double> perron;
  double bias = 0;          ///< max |n·perron − 1|; 0 is what averaging without bias has
  double contraction = 0;   ///< modulus of the second eigenvalue of the period's product, per round
  std::optional<Round> rounds_to_1e_3;  ///< rounds until disagreement has fallen by 1e-3 at that rate
};

/// Throws nothing; dense eigenvalues up to 1,000 clients, iterations beyond.
[[nodiscard]] TopologyAnalysis analyse(const Topology& topology);

/// Graphviz DOT of one digraph per phase, with weights on the edges.
[[nodiscard]] std::string to_dot(const Topology& topology);

}  // namespace starling
