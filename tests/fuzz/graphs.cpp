#include "graphs.hpp"

#include "target.hpp"

#include "starling/graph/analysis.hpp"

namespace starling::fuzz {

namespace {

constexpr Client few_clients = 12;
constexpr std::size_t few_phases = 12;

void require_analysis(const Topology& topology) {
  const TopologyAnalysis analysis = analyse(topology);
  require(analysis.strongly_connected.size() == topology.phases(), "connectivity of every phase");
  require(!(analysis.contraction < 0 || analysis.contraction > 1), "contraction between 0 and 1");
  for (const double share : analysis.perron) require(share >= 0 && share <= 1, "Perron shares between 0 and 1");
}

}  // namespace

void require_sound(const Topology& topology) {
  require(Topology::parse(topology.text(), "again").digest() == topology.digest(), "a topology's text gives it back");
  static_cast<void>(to_dot(topology));
  if (topology.clients() <= few_clients && topology.phases() <= few_phases) require_analysis(topology);
}

}  // namespace starling::fuzz
