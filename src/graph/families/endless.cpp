// Weights, text and digest of endless graphs. The families are in endless_families.cpp.
#include "starling/graph/families/endless.hpp"

#include <algorithm>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"

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

EndlessGraph::EndlessGraph(Client clients, WeightRule rule, Degrees degrees, std::string spec)
    : clients_(clients), rule_(rule), degrees_(degrees), spec_(std::move(spec)) {
  check(follows(degrees, rule), "{} with {} weights (a client would have to know what others know) use {}", spec_,
        name_of(rule), rules_of(degrees));
}

Links EndlessGraph::links(Client u, Round t) const {
  check(u >= 0 && u < clients_ && t >= 0, "client {} in round {} (clients are 0 to {}, rounds count from 0)", u, t,
        clients_ - 1);
  const Peers row = peers(u, t);
  const double own = 1 / (1 + static_cast<double>(row.out.size()));
  if (degrees_ == Degrees::sender) return {own, arcs_to(row.out, 1), arcs_to(row.in, 1), own};
  const double given = degrees_ == Degrees::one ? 0.5 : own;
  return {own, arcs_to(row.out, given), arcs_to(row.in, given)};
}

std::string EndlessGraph::text() const {
  std::string words = spec_;
  std::replace(words.begin(), words.end(), ',', ' ');
  const auto colon = words.find(':');
  return fmt::format("weights {}\ngenerate {} clients={} {}\n", name_of(rule_), words.substr(0, colon), clients_,
                     words.substr(colon + 1));
}

Round EndlessGraph::telling_rounds() const {
  return std::clamp<Round>(200'000 / clients_, 1, 64);
}

std::string EndlessGraph::digest() const {
  return sha256("starling endless graph 1\n" + text());
}

void EndlessGraph::require_receiver_sums() const {
  check(degrees_ == Degrees::regular || degrees_ == Degrees::paired,
        "weights that a client receives do not sum to one in {} (plain mixing needs that) mix by push-sum, or use {}",
        spec_, "random-regular or random-matching");
}

}  // namespace starling
