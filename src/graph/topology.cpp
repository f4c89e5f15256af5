#include "graph/topology.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/digest_writer.hpp"

namespace starling {

Adjacency turned(const Adjacency& adjacency) {
  const std::size_t clients = adjacency.first.size() - 1;
  Adjacency result;
  result.first.assign(clients + 1, 0);
  for (const Client peer : adjacency.peers) ++result.first[static_cast<std::size_t>(peer) + 1];
  for (std::size_t u = 0; u < clients; ++u) result.first[u + 1] += result.first[u];
  result.peers.resize(adjacency.peers.size());
  result.weights.resize(adjacency.weights.size());
  std::vector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (std::size_t u = 0; u < clients; ++u) {  // ascending, and so come out the peers
    for (std::size_t k = adjacency.first[u]; k < adjacency.first[u + 1]; ++k) {
      const std::size_t slot = next[static_cast<std::size_t>(adjacency.peers[k])]++;
      result.peers[slot] = static_cast<Client>(u);
      if (!adjacency.weights.empty()) result.weights[slot] = adjacency.weights[k];
    }
  }
  return result;
}

std::vector<Arc> ArcView::arcs() const {
  std::vector<Arc> result;
  result.reserve(size());
  for (std::size_t k = 0; k < size(); ++k) result.push_back({peer(k), weight(k)});
  return result;
}

namespace {

constexpr std::size_t max_client_phases = 20'000'000;
constexpr std::size_t max_edge_phases = 30'000'000;

/// "name:line: edge 0 1", or "name: edge 0 1" where the edge was not read from a file.
std::string place(const std::string& name, const Edge& edge) {
  const std::string line = edge.line > 0 ? fmt::format(":{}", edge.line) : "";
  return fmt::format("{}{}: edge {} {}", name, line, edge.from, edge.to);
}

void check_edge(const Edge& edge, Client clients, WeightRule rule, const std::string& name) {
  for (const Client end : {edge.from, edge.to}) {
    check(end >= 0 && end < clients,
          "{} names client {}: clients are numbered 0 to {}. Correct it, or raise `clients`.", place(name, edge), end,
          clients - 1);
  }
  if (rule == WeightRule::explicit_weights) {
    check(std::isfinite(edge.weight) && edge.weight >= 0,
          "{} has weight {}: a weight is a share: finite and not negative. Write one from 0 to 1.", place(name, edge),
          edge.weight);
  } else {
    check(edge.from != edge.to,
          "{} is a self loop: under `weights {}` every client keeps a share already. Delete it, or write all weights "
          "under `weights explicit`.",
          place(name, edge), name_of(rule));
  }
}

/// All edges of a phase.
struct EdgesOfPhase {
  const std::vector<Edge>& everywhere;
  const std::vector<Edge>& own;

  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto* edges : {&everywhere, &own}) {
      for (const Edge& edge : *edges) visit(edge);
    }
  }
  /// Edges from one client to another, in the order of the file.
  [[nodiscard]] std::vector<Edge> between(Client from, Client to) const {
    std::vector<Edge> found;
    each([&](const Edge& edge) {
      if (edge.from == from && edge.to == to) found.push_back(edge);
    });
    std::stable_sort(found.begin(), found.end(), [](const Edge& a, const Edge& b) { return a.line < b.line; });
    return found;
  }
};

/// Sorts a client's arcs by peer.
void sort_row(Adjacency& rows, Client u, std::vector<Arc>& scratch) {
  const auto begin = rows.peers.begin() + rows.first[static_cast<std::size_t>(u)];
  const auto end = begin + static_cast<std::ptrdiff_t>(rows.degree(u));
  if (std::is_sorted(begin, end)) return;
  if (rows.weights.empty()) return std::sort(begin, end);
  const auto weights = rows.weights.begin() + rows.first[static_cast<std::size_t>(u)];
  scratch.clear();
  for (auto peer = begin; peer != end; ++peer) scratch.push_back({*peer, weights[peer - begin]});
  std::sort(scratch.begin(), scratch.end(), [](const Arc& a, const Arc& b) { return a.peer < b.peer; });
  for (std::size_t k = 0; k < scratch.size(); ++k) {
    begin[static_cast<std::ptrdiff_t>(k)] = scratch[k].peer;
    weights[static_cast<std::ptrdiff_t>(k)] = scratch[k].weight;
  }
}

/// The edges by sender, receivers ascending: self loops and edges of no weight among them.
Adjacency by_sender(const EdgesOfPhase& edges, Client clients, bool weighted) {
  Adjacency rows;
  rows.first.assign(static_cast<std::size_t>(clients) + 1, 0);
  edges.each([&](const Edge& edge) { ++rows.first[static_cast<std::size_t>(edge.from) + 1]; });
  for (std::size_t u = 0; u < static_cast<std::size_t>(clients); ++u) rows.first[u + 1] += rows.first[u];
  rows.peers.resize(rows.first.back());
  if (weighted) rows.weights.resize(rows.first.back());
  std::vector<std::uint32_t> next(rows.first.begin(), rows.first.end() - 1);
  edges.each([&](const Edge& edge) {
    const std::size_t slot = next[static_cast<std::size_t>(edge.from)]++;
    rows.peers[slot] = edge.to;
    if (weighted) rows.weights[slot] = edge.weight;
  });
  std::vector<Arc> scratch;
  for (Client u = 0; u < clients; ++u) sort_row(rows, u, scratch);
  return rows;
}

void check_unrepeated(const Adjacency& rows, const EdgesOfPhase& edges, Client clients, const std::string& name) {
  for (Client u = 0; u < clients; ++u) {
    const auto peers = rows.of(u);
    const auto repeated = std::adjacent_find(peers.begin(), peers.end());
    if (repeated == peers.end()) continue;
    const std::vector<Edge> same = edges.between(u, *repeated);
    const std::string first = same[0].line > 0 ? fmt::format(", first on line {}", same[0].line) : "";
    throw UsageError(fmt::format("{} stands twice in one phase: weights would be ambiguous{}. Delete one.",
                                 place(name, same[1]), first));
  }
}

/// Takes out self loops, whose weights are `own`, and edges of no weight.
void take_self_loops(Adjacency& rows, std::vector<double>& own) {
  std::size_t kept = 0;
  for (std::size_t u = 0; u < own.size(); ++u) {
    const std::size_t begin = rows.first[u];
    rows.first[u] = static_cast<std::uint32_t>(kept);
    for (std::size_t k = begin; k < rows.first[u + 1]; ++k) {
      if (rows.weights[k] == 0) continue;  // of either sign
      if (static_cast<std::size_t>(rows.peers[k]) == u) {
        own[u] = rows.weights[k];
      } else {
        rows.peers[kept] = rows.peers[k];
        rows.weights[kept++] = rows.weights[k];
      }
    }
  }
  rows.first.back() = static_cast<std::uint32_t>(kept);
  rows.peers.resize(kept);
  rows.weights.resize(kept);
}

std::vector<double> equal_shares(const Adjacency& rows, Client clients) {
  std::vector<double> shares;
  shares.reserve(static_cast<std::size_t>(clients));
  for (Client u = 0; u < clients; ++u) shares.push_back(equal_share(rows.degree(u)));
  return shares;
}

/// Sets the weights of a symmetric graph's arcs; returns what clients keep.
std::vector<double> set_metropolis_weights(Adjacency& rows, Client clients) {
  rows.weights.resize(rows.peers.size());
  std::vector<double> own;
  for (Client u = 0; u < clients; ++u) {
    double given = 0;
    for (std::size_t k = rows.first[static_cast<std::size_t>(u)]; k < rows.first[static_cast<std::size_t>(u) + 1];
         ++k) {
      rows.weights[k] = equal_share(std::max(rows.degree(u), rows.degree(rows.peers[k])));
      given += rows.weights[k];
    }
    own.push_back(1 - given);
  }
  return own;
}

void check_symmetric(const Adjacency& rows, const EdgesOfPhase& edges, Client clients, const std::string& name) {
  for (Client u = 0; u < clients; ++u) {
    for (const Client v : rows.of(u)) {
      const auto back = rows.of(v);
      if (std::binary_search(back.begin(), back.end(), u)) continue;
      throw UsageError(fmt::format(
          "{} has no edge back: metropolis weights need a symmetric graph. Add `edge {} {}`, or use `weights sender`.",
          place(name, edges.between(u, v)[0]), v, u));
    }
  }
}

void check_sizes(Client clients, const std::vector<Edge>& everywhere, const std::vector<Topology::Phase>& phases,
                 const std::string& name) {
  check(clients >= 1 && clients <= max_clients, "{}: {} clients: a topology has 1 to {}. Correct `clients`.", name,
        clients, max_clients);
  const std::size_t count = std::max<std::size_t>(phases.size(), 1);
  check(count <= max_client_phases / static_cast<std::size_t>(clients),
        "{}: {} clients in {} phases: clients × phases is at most {}. Use fewer phases.", name, clients, count,
        max_client_phases);
  std::size_t edges = 0;
  for (const Topology::Phase& phase : phases) {
    check(phase.rounds >= 1 && phase.rounds <= max_phase_rounds,
          "{}: a phase of {} rounds: a phase lasts 1 to {}. Correct it.", name, phase.rounds, max_phase_rounds);
    edges += phase.edges.size();
  }
  const bool fits = edges <= max_edge_phases && everywhere.size() <= (max_edge_phases - edges) / count;
  check(fits, "{}: too many edges: at most {} summed over phases. Use a sparser graph or fewer phases.", name,
        max_edge_phases);
}

}  // namespace

Topology::Topology(Client clients, WeightRule rule, const std::vector<Edge>& everywhere,
                   const std::vector<Phase>& phases, const std::string& name)
    : clients_(clients), rule_(rule) {
  check_sizes(clients, everywhere, phases, name);
  for (const Edge& edge : everywhere) check_edge(edge, clients, rule, name);
  const bool written = rule == WeightRule::explicit_weights;
  const std::vector<Phase> standing(1);
  for (const Phase& phase : phases.empty() ? standing : phases) {
    for (const Edge& edge : phase.edges) check_edge(edge, clients, rule, name);
    const EdgesOfPhase edges{everywhere, phase.edges};
    Adjacency out = by_sender(edges, clients, written);
    check_unrepeated(out, edges, clients, name);
    if (rule == WeightRule::metropolis) check_symmetric(out, edges, clients, name);
    std::vector<double> own(written ? static_cast<std::size_t>(clients) : 0);
    if (written) take_self_loops(out, own);
    add_phase(phase.rounds, std::move(own), std::move(out));
  }
}

void Topology::add_phase(Round rounds, std::vector<double> own, Adjacency out) {
  Adjacency in;
  if (rule_ == WeightRule::metropolis) {
    own = set_metropolis_weights(out, clients_);
  } else {
    in = turned(out);
  }
  if (rule_ == WeightRule::sender) own = equal_shares(out, clients_);
  if (rule_ == WeightRule::receiver) own = equal_shares(in, clients_);
  phases_.push_back({period_, rounds, std::move(own), std::move(out), std::move(in)});
  period_ += rounds;
}

Topology::Row Topology::row(std::size_t phase, Client u) const {
  const Mixing& mixing = phases_[phase];
  const auto at = static_cast<std::size_t>(u);
  const double own = mixing.own[at];
  const Adjacency& in = senders(phase);
  ArcView sent{mixing.out.of(u), nullptr, nullptr, own};
  ArcView received{in.of(u), nullptr, nullptr, own};
  switch (rule_) {
    case WeightRule::explicit_weights:
    case WeightRule::metropolis:
      sent.of_arcs = mixing.out.weights.data() + mixing.out.first[at];
      received.of_arcs = in.weights.data() + in.first[at];
      break;
    case WeightRule::sender:
      received.of_peers = mixing.own.data();
      break;
    case WeightRule::receiver:
      sent.of_peers = mixing.own.data();
      break;
  }
  return {own, sent, received};
}

void Topology::require_links() const {
  check<std::logic_error>(!phases_.empty(), "a topology of {} clients has been told to forget its links", clients_);
}

Links Topology::phase_links(std::size_t phase, Client u) const {
  const Row found = row(phase, u);
  return {found.own, found.out.arcs(), found.in.arcs()};
}

Links Topology::links(Client u, Round t) const {
  check(u >= 0 && u < clients_ && t >= 0, "client {} in round {}: clients are 0 to {}, rounds count from 0.", u, t,
        clients_ - 1);
  require_links();
  const auto after = std::upper_bound(phases_.begin(), phases_.end(), t % period_,
                                      [](Round round, const Mixing& phase) { return round < phase.start; });
  return phase_links(static_cast<std::size_t>(std::prev(after) - phases_.begin()), u);
}

std::string Topology::text() const {
  require_links();
  std::string text = fmt::format("clients {}\nweights {}\n", clients_, name_of(rule_));
  const bool weights = rule_ == WeightRule::explicit_weights;
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    if (period_ > 1) text += fmt::format("phase {}\n", phase_rounds(phase));
    for (Client u = 0; u < clients_; ++u) {
      const Row found = row(phase, u);
      if (weights && found.own > 0) text += fmt::format("edge {} {} {}\n", u, u, found.own);
      for (std::size_t k = 0; k < found.out.size(); ++k) {
        text += fmt::format("edge {} {}", u, found.out.peer(k));
        if (weights) text += fmt::format(" {}", found.out.weight(k));
        text += '\n';
      }
    }
  }
  return text;
}

std::string Topology::digest() const {
  require_links();
  DigestWriter writer(clients_);
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    writer.begin_phase(phase_rounds(phase));
    for (Client u = 0; u < clients_; ++u) {
      const Row found = row(phase, u);
      writer.begin_row(found.own, found.out.size());
      for (std::size_t k = 0; k < found.out.size(); ++k) writer.add_arc(found.out.peer(k), found.out.weight(k));
    }
  }
  return writer.digest();
}

double sender_sum(const Links& links) {
  double sum = links.own;
  for (const Arc& arc : links.out) sum += arc.weight;
  return sum;
}

double receiver_sum(const Links& links) {
  double sum = links.own;
  for (const Arc& arc : links.in) sum += arc.weight;
  return sum;
}

double sender_sum(const Topology::Row& row) {
  double sum = row.own;
  for (std::size_t k = 0; k < row.out.size(); ++k) sum += row.out.weight(k);
  return sum;
}

double receiver_sum(const Topology::Row& row) {
  double sum = row.own;
  for (std::size_t k = 0; k < row.in.size(); ++k) sum += row.in.weight(k);
  return sum;
}

void Topology::require_sender_sums() const {
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (Client u = 0; u < clients_; ++u) {
      const double sum = sender_sum(row(phase, u));
      check(std::abs(sum - 1) <= sum_tolerance,
            "weights of client {} as sender sum to {:.12g} in phase {}: push-sum needs 1 within 1e-9. Correct its "
            "edges and self loop, or {}.",
            u, sum, phase,
            rule_ == WeightRule::explicit_weights ? "leave all weights out: then each client shares equally"
                                                  : "use `weights sender`");
    }
  }
}

void Topology::require_receiver_sums() const {
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (Client u = 0; u < clients_; ++u) {
      const double sum = receiver_sum(row(phase, u));
      check(std::abs(sum - 1) <= sum_tolerance,
            "weights of client {} as receiver sum to {:.12g} in phase {}: plain mixing needs 1 within 1e-9. Correct "
            "the edges to it and its self loop, mix by push-sum, or use `weights receiver` in a .topo file.",
            u, sum, phase);
    }
  }
}

}  // namespace starling
