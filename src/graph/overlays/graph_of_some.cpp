#include <utility>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "graph/overlays/overlays.hpp"

namespace starling {

GraphOfSome::GraphOfSome(std::unique_ptr<Graph> graph, std::vector<Client> some, Client clients)
    : graph_(std::move(graph)), some_(std::move(some)), place_(static_cast<std::size_t>(clients), -1) {
  check(graph_->clients() == static_cast<Client>(some_.size()), "a graph of {} clients for {}: it needs one for each.",
        graph_->clients(), some_.size());
  for (std::size_t i = 0; i < some_.size(); ++i) place_.at(static_cast<std::size_t>(some_[i])) = static_cast<Client>(i);
}

// `some` ascend, so that arcs stay in the order of peers.
Links GraphOfSome::links(Client u, Round t) const {
  const Client place = place_[static_cast<std::size_t>(u)];
  if (place < 0) return {};
  Links links = graph_->links(place, t);
  for (auto* arcs : {&links.out, &links.in, &links.lost}) {
    for (Arc& arc : *arcs) arc.peer = some_[static_cast<std::size_t>(arc.peer)];
  }
  return links;
}

Attendance GraphOfSome::attendance(Client u, Round t) const {
  const Client place = place_[static_cast<std::size_t>(u)];
  return place < 0 ? Attendance::gone : graph_->attendance(place, t);
}

std::string GraphOfSome::digest() const {
  std::string text = fmt::format("starling graph of some 1\n{}\n{}\n", graph_->digest(), place_.size());
  for (const Client u : some_) text += fmt::format("{}\n", u);
  return sha256(text);
}

}  // namespace starling
