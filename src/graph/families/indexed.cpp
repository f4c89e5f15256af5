// Weights, text and digest of graphs whose rows follow from a client's number. The families are in families.cpp.
#include "indexed.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "graph/digest_writer.hpp"
#include "graph/topology.hpp"

namespace starling {

IndexedGraph::IndexedGraph(Client clients, WeightRule rule, Family family)
    : clients_(clients), rule_(rule), family_(std::move(family)) {
  check(rule != WeightRule::explicit_weights,
        "{} with explicit weights: a generator writes no weights. Use sender, receiver or metropolis.", family_.spec);
  require_symmetry();
}

/// Weight of an edge from u under `sender`, to u under `receiver`, in either direction under `metropolis`.
double IndexedGraph::weight_between(Client u, Client peer) const {
  return equal_share(rule_ == WeightRule::metropolis ? std::max(family_.degree(u), family_.degree(peer))
                                                     : family_.degree(u));
}

Links IndexedGraph::links(Client u, Round t) const {
  check(u >= 0 && u < clients_ && t >= 0, "client {} in round {}: clients are 0 to {}, rounds count from 0.", u, t,
        clients_ - 1);
  Links links;
  const auto join = [&](std::vector<Arc>& arcs, const std::vector<Client>& peers, WeightRule by_peer) {
    arcs.reserve(peers.size());
    for (const Client peer : peers) {
      arcs.push_back({peer, rule_ == by_peer ? weight_between(peer, u) : weight_between(u, peer)});
    }
  };
  join(links.out, family_.receivers(u, t % family_.period), WeightRule::receiver);
  join(links.in, family_.senders(u, t % family_.period), WeightRule::sender);
  if (rule_ == WeightRule::metropolis) {
    double given = 0;
    for (const Arc& arc : links.out) given += arc.weight;
    links.own = 1 - given;
  } else {
    links.own = equal_share(family_.degree(u));
  }
  return links;
}

std::string IndexedGraph::digest() const {
  DigestWriter writer(clients_);
  for (Round t = 0; t < family_.period; ++t) {
    writer.begin_phase(1);
    for (Client u = 0; u < clients_; ++u) {
      const Links row = links(u, t);
      writer.begin_row(row.own, row.out.size());
      for (const Arc& arc : row.out) writer.add_arc(arc.peer, arc.weight);
    }
  }
  return writer.digest();
}

std::string IndexedGraph::text() const {
  std::string text = fmt::format("clients {}\nweights {}\n", clients_, name_of(rule_));
  for (Round t = 0; t < family_.period; ++t) {
    if (family_.period > 1) text += "phase 1\n";
    for (Client u = 0; u < clients_; ++u) {
      for (const Client to : family_.receivers(u, t)) text += fmt::format("edge {} {}\n", u, to);
    }
  }
  return text;
}

void IndexedGraph::require_symmetry() const {
  if (rule_ != WeightRule::metropolis) return;
  // Client 0 stands for all: directed families are circles, on which every client has the same row.
  for (Round t = 0; t < family_.period; ++t) {
    const std::vector<Client> back = family_.senders(0, t);
    for (const Client to : family_.receivers(0, t)) {
      check(std::binary_search(back.begin(), back.end(), to),
            "{}: edge 0 {} has no edge back: metropolis weights need a symmetric graph. Add `edge {} 0`, or use "
            "`weights sender`.",
            family_.spec, to, to);
    }
  }
}

void IndexedGraph::require_sums(double (*sum)(const Links&), const char* role, const char* remedy) const {
  for (Round t = 0; t < family_.period; ++t) {
    for (Client u = 0; u < clients_; ++u) {
      const double found = sum(links(u, t));
      check(std::abs(found - 1) <= sum_tolerance, "weights of client {} as {} sum to {:.12g} in phase {}: {}", u, role,
            found, t, remedy);
    }
  }
}

void IndexedGraph::require_sender_sums() const {
  if (rule_ != WeightRule::receiver) return;  // one by construction
  require_sums(sender_sum, "sender",
               "push-sum needs 1 within 1e-9. Correct its edges and self loop, or use `weights sender`.");
}

void IndexedGraph::require_receiver_sums() const {
  if (rule_ != WeightRule::sender) return;
  require_sums(receiver_sum, "receiver",
               "plain mixing needs 1 within 1e-9. Correct the edges to it and its self loop, mix by push-sum, or "
               "use `weights receiver` in a .topo file.");
}

}  // namespace starling
