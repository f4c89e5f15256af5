#include "starling/core/check.hpp"
#include "starling/graph/analysis.hpp"

namespace starling {

namespace {

constexpr Round max_client_rounds = 20'000'000;

}  // namespace

Topology written_out(const Schedule& schedule, Round rounds) {
  check(rounds >= 1 && rounds <= max_client_rounds / schedule.clients(),
        "{} rounds of {} clients (too many to be written out: clients × rounds is at most {}) use fewer", rounds,
        schedule.clients(), max_client_rounds);
  std::vector<Topology::Phase> phases(static_cast<std::size_t>(rounds));
  for (Round t = 0; t < rounds; ++t) {
    auto& edges = phases[static_cast<std::size_t>(t)].edges;
    for (Client u = 0; u < schedule.clients(); ++u) {
      const Links links = schedule.links(u, t);
      edges.push_back({u, u, links.own});
      for (const Arc& arc : links.out) edges.push_back({u, arc.peer, links.share * arc.weight});
    }
  }
  return {schedule.clients(), WeightRule::explicit_weights, {}, phases, "rounds written out"};
}

GraphSample::GraphSample(const Graph& graph, std::optional<Round> rounds)
    : topology_(dynamic_cast<const Topology*>(&graph)) {
  if (topology_ != nullptr) return;
  written_.emplace(written_out(graph, rounds.value_or(graph.telling_rounds())));
  topology_ = &*written_;
  if (graph.period() != written_->period()) rounds_ = written_->period();
}

}  // namespace starling
