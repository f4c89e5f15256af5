#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "graph/analysis/analysis.hpp"

namespace starling {

namespace {

constexpr Client always_on_a_circle = 32;  ///< clients, at most
constexpr double near_on_a_circle = 2;     ///< mean distance of an edge's ends, in clients, at most
constexpr std::size_t most_curved = 64;    ///< nodes up to which edges go around others; beyond, that takes minutes
constexpr std::size_t most_labels = 12;    ///< edges of a phase whose weights are written
constexpr double between_clients = 0.62;   ///< inches on the circle
constexpr double between_circles = 1.4;    ///< inches
constexpr double least_radius = 1.2;       ///< inches
constexpr double least_width = 0.5;        ///< points
constexpr double widest = 3;               ///< points, of the greatest weight

/// An edge as it is drawn; one with `both` stands for two of the same weight.
struct DrawnEdge {
  Client from;
  Client to;
  double weight;
  bool both;
};

std::vector<DrawnEdge> edges_of(const Topology& topology, std::size_t phase) {
  std::vector<DrawnEdge> edges;
  for (Client u = 0; u < topology.clients(); ++u) {
    const Links links = topology.phase_links(phase, u);
    std::map<Client, double> back;
    for (const Arc& arc : links.in) back[arc.peer] = arc.weight;
    for (const Arc& arc : links.out) {
      const auto found = back.find(arc.peer);
      const bool both = found != back.end() && found->second == arc.weight;
      if (!both || u < arc.peer) edges.push_back({u, arc.peer, arc.weight, both});
    }
  }
  return edges;
}

double greatest_weight(const std::vector<std::vector<DrawnEdge>>& phases) {
  double greatest = 0;
  for (const auto& edges : phases) {
    for (const DrawnEdge& edge : edges) greatest = std::max(greatest, edge.weight);
  }
  return greatest;
}

/// Whether clients stand on a circle: few clients, several phases to be compared, or edges that go around.
bool on_a_circle(Client clients, const std::vector<std::vector<DrawnEdge>>& phases) {
  if (clients <= always_on_a_circle || phases.size() != 1) return true;
  double steps = 0;
  for (const DrawnEdge& edge : phases.front()) {
    const Client apart = std::abs(edge.from - edge.to);
    steps += std::min(apart, clients - apart);
  }
  return steps <= near_on_a_circle * static_cast<double>(phases.front().size());
}

/// Places of the phases' circles in rows, and of clients on them, in inches. Client 0 is at the top.
class Circles {
 public:
  Circles(Client clients, std::size_t phases)
      : clients_(clients),
        radius_(std::max(least_radius, between_clients * clients / (2 * std::numbers::pi))),
        in_row_(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(phases))))) {}

  [[nodiscard]] std::string place_of(std::size_t phase, Client u) const {
    const double angle = 2 * std::numbers::pi * u / clients_;
    return at(phase, radius_ * std::sin(angle), radius_ * std::cos(angle));
  }
  [[nodiscard]] std::string place_of_title(std::size_t phase) const { return at(phase, 0, radius_ + 0.62); }

 private:
  [[nodiscard]] std::string at(std::size_t phase, double x, double y) const {
    const double step = 2 * radius_ + between_circles;
    return fmt::format(" pos=\"{:.4f},{:.4f}!\"", x + step * static_cast<double>(phase % in_row_),
                       y - step * static_cast<double>(phase / in_row_));
  }

  Client clients_;
  double radius_;
  std::size_t in_row_;
};

/// Nodes and edges of one phase; nodes are named by phase and client. The fuller a node's colour, the more it keeps.
void append_phase(std::string& dot, const Topology& topology, std::size_t phase, const std::vector<DrawnEdge>& edges,
                  double greatest, const std::optional<Circles>& circles) {
  for (Client u = 0; u < topology.clients(); ++u) {
    const double own = topology.phase_links(phase, u).own;
    dot +=
        fmt::format("    p{0}_{1} [label=\"{1}\" fillcolor=\"0.57 {2:.3f} 0.98\" tooltip=\"{1} keeps {3:.3g}\"{4}];\n",
                    phase, u, 0.45 * std::clamp(own, 0.0, 1.0), own, circles ? circles->place_of(phase, u) : "");
  }
  for (const DrawnEdge& edge : edges) {
    dot += fmt::format("    p{0}_{1} -> p{0}_{2} [penwidth={3:.2f}{4} tooltip=\"{1} to {2}: {5:.3g}\"", phase,
                       edge.from, edge.to, least_width + (widest - least_width) * edge.weight / greatest,
                       edge.both ? " dir=none" : "", edge.weight);
    if (edges.size() <= most_labels) dot += fmt::format(" label=\"{:.3g}\"", edge.weight);
    dot += "];\n";
  }
}

/// Pinned places are kept by Graphviz's neato; without them its sfdp lays out by forces.
std::string head_of(bool pinned, std::size_t nodes) {
  return fmt::format(
      "digraph topology {{\n  layout={}; outputorder=edgesfirst; splines={}; pad=0.2;\n"
      "  label=\"width: weight of an edge    colour: the share that a client keeps\"; labelloc=b;\n"
      "  fontname=\"sans\"; fontsize=10; fontcolor=\"#5a6875\";\n"
      "  node [shape=circle fixedsize=true width=0.36 fontname=\"sans\" fontsize=11 style=filled color=\"#0072b2\"];\n"
      "  edge [color=\"#0072b2c0\" arrowsize=0.6 fontname=\"sans\" fontsize=9 fontcolor=\"#5a6875\"];\n",
      pinned ? "neato" : "sfdp",
      !pinned                ? "line; overlap=prism; K=1"
      : nodes <= most_curved ? "true"
                             : "line");
}

}  // namespace

std::string name_of_phase(const GraphSample& sample, std::size_t phase) {
  const Topology& topology = sample.topology();
  Round first = 0;
  for (std::size_t before = 0; before < phase; ++before) first += topology.phase_rounds(before);
  const Round rounds = topology.phase_rounds(phase);
  const std::string place =
      rounds == 1 ? fmt::format("round {}", first) : fmt::format("rounds {} to {}", first, first + rounds - 1);
  return sample.rounds() ? place : fmt::format("{} of every {}", place, topology.period());
}

std::string to_dot(const GraphSample& sample) {
  const Topology& topology = sample.topology();
  std::vector<std::vector<DrawnEdge>> phases;
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) phases.push_back(edges_of(topology, phase));
  const double greatest = greatest_weight(phases);
  std::optional<Circles> circles;
  if (on_a_circle(topology.clients(), phases)) circles.emplace(topology.clients(), phases.size());
  std::string dot = head_of(circles.has_value(), static_cast<std::size_t>(topology.clients()) * phases.size());
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    if (phases.size() > 1) {
      dot += fmt::format(
          "  subgraph cluster_{0} {{\n    label=\"\"; pencolor=\"#dbe2e8\";\n"
          "    t{0} [shape=plaintext style=\"\" fixedsize=false height=0.3 label=\"{1}\"{2}];\n",
          phase, name_of_phase(sample, phase), circles->place_of_title(phase));
    }
    append_phase(dot, topology, phase, phases[phase], greatest, circles);
    if (phases.size() > 1) dot += "  }\n";
  }
  return dot + "}\n";
}

}  // namespace starling
