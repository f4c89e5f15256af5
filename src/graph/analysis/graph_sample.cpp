#include "core/check.hpp"
#include "graph/analysis/analysis.hpp"
#include "graph/families/indexed.hpp"

namespace starling {

namespace {

constexpr Round max_client_rounds = 20'000'000;
constexpr std::size_t max_edges = 30'000'000;

}  // namespace

Topology written_out(const Schedule& schedule, Round rounds, WeightRule rule) {
  const Client clients = schedule.clients();
  check(rounds >= 1 && rounds <= max_client_rounds / clients,
        "{} rounds of {} clients: too many to be written out: clients × rounds is at most {}. Use fewer.", rounds,
        clients, max_client_rounds);
  Topology result(clients, rule);
  const bool weighted = rule == WeightRule::explicit_weights;
  std::size_t edges = 0;
  for (Round t = 0; t < rounds; ++t) {
    std::vector<double> own;
    Adjacency out;
    out.first.push_back(0);
    for (Client u = 0; u < clients; ++u) {
      const Links links = schedule.links(u, t);
      if (weighted) own.push_back(links.own);
      for (const Arc& arc : links.out) {
        if (weighted && links.share * arc.weight == 0) continue;
        out.peers.push_back(arc.peer);
        if (weighted) out.weights.push_back(links.share * arc.weight);
      }
      out.first.push_back(static_cast<std::uint32_t>(out.peers.size()));
      check(edges + out.peers.size() <= max_edges,
            "{} rounds of {} clients have too many edges: at most {} summed over rounds. Use a sparser graph or fewer "
            "rounds.",
            rounds, clients, max_edges);
    }
    edges += out.peers.size();
    result.add_phase(1, std::move(own), std::move(out));
  }
  return result;
}

Topology topology_of(const Graph& graph, const std::string& name) {
  if (const auto* topology = dynamic_cast<const Topology*>(&graph)) return *topology;
  check(graph.period() > 0, "{}: its rounds never repeat: they cannot be written out. Leave out rounds=endless.", name);
  const bool by_rule =
      dynamic_cast<const IndexedGraph*>(&graph) != nullptr;  // others may have edges of twice the weight
  return written_out(graph, graph.period(), by_rule ? graph.rule() : WeightRule::explicit_weights);
}

GraphSample::GraphSample(const Graph& graph, std::optional<Round> rounds)
    : topology_(dynamic_cast<const Topology*>(&graph)) {
  if (topology_ != nullptr) return;
  if (dynamic_cast<const IndexedGraph*>(&graph) != nullptr) {
    written_.emplace(topology_of(graph));
  } else {
    written_.emplace(written_out(graph, rounds.value_or(graph.telling_rounds())));
  }
  topology_ = &*written_;
  if (graph.period() != written_->period()) rounds_ = written_->period();
}

}  // namespace starling
