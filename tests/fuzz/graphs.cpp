#include "graphs.hpp"

#include "graph/analysis/analysis.hpp"
#include "target.hpp"

namespace starling::fuzz {

namespace {

constexpr Client few_clients = 12;
constexpr std::size_t few_phases = 12;
constexpr Round few_rounds = 3;  // of a graph that never repeats

void require_analysis(const GraphSample& sample) {
  const TopologyAnalysis analysis = analyse(sample);
  require(analysis.strongly_connected.size() == sample.topology().phases(), "connectivity of every phase");
  require(!(analysis.contraction < 0 || analysis.contraction > 1), "contraction between 0 and 1");
  for (const double share : analysis.perron) require(share >= 0 && share <= 1, "Perron shares between 0 and 1");
}

}  // namespace

void require_sound(const Graph& graph) {
  require(parse_graph(graph.text(), "again")->digest() == graph.digest(), "a graph's text gives it back");
  const GraphSample sample(graph, few_rounds);
  static_cast<void>(to_dot(sample));
  if (graph.clients() <= few_clients && sample.topology().phases() <= few_phases) require_analysis(sample);
}

}  // namespace starling::fuzz
