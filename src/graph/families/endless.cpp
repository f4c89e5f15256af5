// Weights, text and digest of endless graphs. The families are in endless_families.cpp.
#include "graph/families/endless.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace starling {

namespace {

bool follows(EndlessGraph::Degrees degrees, WeightRule rule) {
  using Degrees = EndlessGraph::Degrees;
  switch (rule) {
    case WeightRule::explicit_weights:
      return false;
    case WeightRule::sender:
      return true;
    case WeightRule::receiver:
      return degrees == Degrees::regular || degrees == Degrees::paired;
    case WeightRule::metropolis:
      return degrees == Degrees::paired;
  }
  return false;
}

std::string rules_of(EndlessGraph::Degrees degrees) {
  std::string names;
  for (const WeightRule rule : {WeightRule::sender, WeightRule::receiver, WeightRule::metropolis}) {
    if (follows(degrees, rule)) names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(rule));
  }
  return names;
}

/// Whoever is there twice gets twice the weight.
std::vector<Arc> arcs_to(const std::vector<Client>& peers, double weight) {
  std::vector<Arc> arcs;
  arcs.reserve(peers.size());
  for (const Client peer : peers) {
    if (!arcs.empty() && arcs.back().peer == peer) {
      arcs.back().weight += weight;
    } else {
      arcs.push_back({peer, weight});
    }
  }
  return arcs;
}

}  // namespace

EndlessGraph::EndlessGraph(Client clients, WeightRule rule, Family family)
    : clients_(clients), rule_(rule), family_(std::move(family)) {
  check(follows(family_.degrees, rule), "{} with {} weights: a client would have to know what others know. Use {}.",
        family_.spec, name_of(rule), rules_of(family_.degrees));
}

Links EndlessGraph::links(Client u, Round t) const {
  check(u >= 0 && u < clients_ && t >= 0, "client {} in round {}: clients are 0 to {}, rounds count from 0.", u, t,
        clients_ - 1);
  const Peers row = family_.peers(u, t);
  const double own = 1 / (1 + static_cast<double>(row.out.size()));
  if (family_.degrees == Degrees::sender) return {own, arcs_to(row.out, 1), arcs_to(row.in, 1), own};
  const double given = family_.degrees == Degrees::one ? 0.5 : own;
  return {own, arcs_to(row.out, given), arcs_to(row.in, given)};
}

std::string EndlessGraph::text() const {
  std::string words = family_.spec;
  std::replace(words.begin(), words.end(), ',', ' ');
  const auto colon = words.find(':');
  return fmt::format("weights {}\ngenerate {} clients={} {}\n", name_of(rule_), words.substr(0, colon), clients_,
                     words.substr(colon + 1));
}

Round EndlessGraph::telling_rounds() const {
  if (family_.period > 0) return family_.period;
  const auto rounds = std::clamp<Round>(200'000 / clients_, 1, 64);
  return ((rounds - 1) / family_.cycle + 1) * family_.cycle;
}

std::string EndlessGraph::digest() const {
  return sha256("starling endless graph 1\n" + text());
}

void EndlessGraph::require_receiver_sums() const {
  check(family_.degrees == Degrees::regular || family_.degrees == Degrees::paired,
        "weights that a client receives do not sum to one in {}: plain mixing needs that. Mix by push-sum, or use {}.",
        family_.spec, "random-regular or random-matching");
}

}  // namespace starling
