#include <iterator>

#include "starling/graph/analysis/analysis.hpp"

namespace starling {

namespace {

/// Nodes and edges of one phase; nodes are named by phase and client, so that clusters stay apart.
void append_phase(std::string& dot, const Topology& topology, std::size_t phase) {
  auto out = std::back_inserter(dot);
  for (Client u = 0; u < topology.clients(); ++u) fmt::format_to(out, "    p{}_{} [label=\"{}\"];\n", phase, u, u);
  for (Client u = 0; u < topology.clients(); ++u) {
    const Links links = topology.phase_links(phase, u);
    const auto append = [&](Client to, double weight) {
      fmt::format_to(out, "    p{0}_{1} -> p{0}_{2} [label=\"{3:.3g}\"];\n", phase, u, to, weight);
    };
    if (links.own > 0) append(u, links.own);
    for (const Arc& arc : links.out) append(arc.peer, arc.weight);
  }
}

/// "round 0 of every 6", "rounds 1 to 2 of every 6": when the phase is; "round 0" where rounds never repeat.
std::string when(Round first, Round rounds, const GraphSample& sample) {
  const std::string place =
      rounds == 1 ? fmt::format("round {}", first) : fmt::format("rounds {} to {}", first, first + rounds - 1);
  return sample.rounds() ? place : fmt::format("{} of every {}", place, sample.topology().period());
}

}  // namespace

std::string to_dot(const GraphSample& sample) {
  const Topology& topology = sample.topology();
  std::string dot = "digraph topology {\n  node [shape=circle];\n  edge [fontsize=9];\n";
  Round first = 0;
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    const Round rounds = topology.phase_rounds(phase);
    const bool several = topology.phases() > 1;
    if (several) {
      dot += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", phase, when(first, rounds, sample));
    }
    append_phase(dot, topology, phase);
    if (several) dot += "  }\n";
    first += rounds;
  }
  return dot + "}\n";
}

}  // namespace starling
