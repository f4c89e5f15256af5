#include "starling/graph/topology.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "starling/core/digest.hpp"

namespace starling {

namespace {

constexpr std::size_t max_client_phases = 20'000'000;
constexpr std::size_t max_edge_phases = 30'000'000;

bool by_ends(const Edge& a, const Edge& b) {
  return std::pair(a.from, a.to) < std::pair(b.from, b.to);
}
bool same_ends(const Edge& a, const Edge& b) {
  return a.from == b.from && a.to == b.to;
}

/// "name:line: edge 0 1", or "name: edge 0 1" where the edge was not read from a file.
std::string place(const std::string& name, const Edge& edge) {
  const std::string line = edge.line > 0 ? fmt::format(":{}", edge.line) : "";
  return fmt::format("{}{}: edge {} {}", name, line, edge.from, edge.to);
}

void check_edge(const Edge& edge, Client clients, WeightRule rule, const std::string& name) {
  for (const Client end : {edge.from, edge.to}) {
    check(end >= 0 && end < clients, "{} names client {} (clients are numbered 0 to {}) correct it, or raise `clients`",
          place(name, edge), end, clients - 1);
  }
  if (rule == WeightRule::explicit_weights) {
    check(std::isfinite(edge.weight) && edge.weight >= 0,
          "{} has weight {} (a weight is a share: finite and not negative) write one from 0 to 1", place(name, edge),
          edge.weight);
  } else {
    check(edge.from != edge.to,
          "{} is a self loop (under `weights {}` every client keeps a share already) delete it, or write all weights "
          "under `weights explicit`",
          place(name, edge), name_of(rule));
  }
}

/// The edges of one phase in order of (from, to).
std::vector<Edge> sorted_edges(std::vector<Edge> edges, const std::vector<Edge>& everywhere, const std::string& name) {
  edges.insert(edges.end(), everywhere.begin(), everywhere.end());
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return by_ends(a, b) || (same_ends(a, b) && a.line < b.line); });
  const auto repeated = std::adjacent_find(edges.begin(), edges.end(), same_ends);
  if (repeated != edges.end()) {
    const std::string first = repeated->line > 0 ? fmt::format(", first on line {}", repeated->line) : "";
    throw UsageError(fmt::format("{} stands twice in one phase (weights would be ambiguous{}) delete one",
                                 place(name, *std::next(repeated)), first));
  }
  return edges;
}

/// Peers only; weights are set afterwards. Arcs come out ascending by peer because the edges are sorted.
std::vector<Links> link_up(const std::vector<Edge>& edges, Client clients, WeightRule rule) {
  std::vector<Links> links(static_cast<std::size_t>(clients));
  const bool written = rule == WeightRule::explicit_weights;
  if (written) {
    for (Links& row : links) row.own = 0;
  }
  for (const Edge& edge : edges) {
    if (written && edge.weight == 0) continue;
    if (edge.from == edge.to) {
      links[static_cast<std::size_t>(edge.from)].own = edge.weight;
    } else {
      links[static_cast<std::size_t>(edge.from)].out.push_back({edge.to, edge.weight});
      links[static_cast<std::size_t>(edge.to)].in.push_back({edge.from, edge.weight});
    }
  }
  return links;
}

double equal_share(std::size_t degree) {
  return 1.0 / static_cast<double>(degree + 1);
}

void set_sender_weights(std::vector<Links>& links) {
  for (Links& row : links) {
    row.own = equal_share(row.out.size());
    for (Arc& arc : row.out) arc.weight = row.own;
  }
  for (Links& row : links) {
    for (Arc& arc : row.in) arc.weight = links[static_cast<std::size_t>(arc.peer)].own;
  }
}

void set_receiver_weights(std::vector<Links>& links) {
  for (Links& row : links) {
    row.own = equal_share(row.in.size());
    for (Arc& arc : row.in) arc.weight = row.own;
  }
  for (Links& row : links) {
    for (Arc& arc : row.out) arc.weight = links[static_cast<std::size_t>(arc.peer)].own;
  }
}

void set_metropolis_weights(std::vector<Links>& links) {
  for (Links& row : links) {
    double given = 0;
    for (std::size_t k = 0; k < row.out.size(); ++k) {
      const std::size_t peer_degree = links[static_cast<std::size_t>(row.out[k].peer)].out.size();
      row.out[k].weight = row.in[k].weight = equal_share(std::max(row.out.size(), peer_degree));
      given += row.out[k].weight;
    }
    row.own = 1 - given;
  }
}

void set_weights(std::vector<Links>& links, WeightRule rule) {
  switch (rule) {
    case WeightRule::explicit_weights:
      return;
    case WeightRule::sender:
      return set_sender_weights(links);
    case WeightRule::receiver:
      return set_receiver_weights(links);
    case WeightRule::metropolis:
      return set_metropolis_weights(links);
  }
}

void check_symmetric(const std::vector<Edge>& edges, const std::string& name) {
  for (const Edge& edge : edges) {
    check(std::binary_search(edges.begin(), edges.end(), Edge{edge.to, edge.from}, by_ends),
          "{} has no edge back (metropolis weights need a symmetric graph) add `edge {} {}`, or use `weights sender`",
          place(name, edge), edge.to, edge.from);
  }
}

void check_sizes(Client clients, const std::vector<Edge>& everywhere, const std::vector<Topology::Phase>& phases,
                 const std::string& name) {
  check(clients >= 1 && clients <= max_clients, "{}: {} clients (a topology has 1 to {}) correct `clients`", name,
        clients, max_clients);
  const std::size_t count = std::max<std::size_t>(phases.size(), 1);
  check(count <= max_client_phases / static_cast<std::size_t>(clients),
        "{}: {} clients in {} phases (clients × phases is at most {}) use fewer phases", name, clients, count,
        max_client_phases);
  std::size_t edges = 0;
  for (const Topology::Phase& phase : phases) {
    check(phase.rounds >= 1 && phase.rounds <= max_phase_rounds,
          "{}: a phase of {} rounds (a phase lasts 1 to {}) correct it", name, phase.rounds, max_phase_rounds);
    edges += phase.edges.size();
  }
  const bool fits = edges <= max_edge_phases && everywhere.size() <= (max_edge_phases - edges) / count;
  check(fits, "{}: too many edges (at most {} summed over phases) use a sparser graph or fewer phases", name,
        max_edge_phases);
}

/// Text of one phase's edges, as `edge` lines.
void append_edges(std::string& text, const std::vector<Links>& links, bool weights) {
  const auto append = [&](std::size_t from, Client to, double weight) {
    const std::string written = weights ? fmt::format(" {}", weight) : "";
    fmt::format_to(std::back_inserter(text), "edge {} {}{}\n", from, to, written);
  };
  for (std::size_t u = 0; u < links.size(); ++u) {
    if (weights && links[u].own > 0) append(u, static_cast<Client>(u), links[u].own);
    for (const Arc& arc : links[u].out) append(u, arc.peer, arc.weight);
  }
}

void append_bits(std::string& bytes, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
}

}  // namespace

Topology::Topology(Client clients, WeightRule rule, const std::vector<Edge>& everywhere,
                   const std::vector<Phase>& phases, const std::string& name)
    : clients_(clients), rule_(rule) {
  check_sizes(clients, everywhere, phases, name);
  for (const Edge& edge : everywhere) check_edge(edge, clients, rule, name);
  const std::vector<Phase> standing(1);
  for (const Phase& phase : phases.empty() ? standing : phases) {
    for (const Edge& edge : phase.edges) check_edge(edge, clients, rule, name);
    const std::vector<Edge> edges = sorted_edges(phase.edges, everywhere, name);
    if (rule == WeightRule::metropolis) check_symmetric(edges, name);
    phases_.push_back({period_, phase.rounds, link_up(edges, clients, rule)});
    set_weights(phases_.back().links, rule);
    period_ += phase.rounds;
  }
}

Links Topology::links(Client u, Round t) const {
  check(u >= 0 && u < clients_ && t >= 0, "client {} in round {} (clients are 0 to {}, rounds count from 0)", u, t,
        clients_ - 1);
  const auto after = std::upper_bound(phases_.begin(), phases_.end(), t % period_,
                                      [](Round round, const Mixing& phase) { return round < phase.start; });
  return std::prev(after)->links[static_cast<std::size_t>(u)];
}

std::string Topology::text() const {
  std::string text = fmt::format("clients {}\nweights {}\n", clients_, name_of(rule_));
  for (const Mixing& phase : phases_) {
    if (period_ > 1) text += fmt::format("phase {}\n", phase.rounds);
    append_edges(text, phase.links, rule_ == WeightRule::explicit_weights);
  }
  return text;
}

std::string Topology::digest() const {
  std::string bytes = "starling topology 1\n";
  append_bits(bytes, static_cast<std::uint64_t>(clients_));
  for (const Mixing& phase : phases_) {
    append_bits(bytes, static_cast<std::uint64_t>(phase.rounds));
    for (const Links& row : phase.links) {
      append_bits(bytes, std::bit_cast<std::uint64_t>(row.own));
      append_bits(bytes, row.out.size());
      for (const Arc& arc : row.out) {
        append_bits(bytes, static_cast<std::uint64_t>(arc.peer));
        append_bits(bytes, std::bit_cast<std::uint64_t>(arc.weight));
      }
    }
  }
  return sha256(bytes);
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

void Topology::require_sender_sums() const {
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (Client u = 0; u < clients_; ++u) {
      const double sum = sender_sum(phase_links(phase, u));
      check(std::abs(sum - 1) <= sum_tolerance,
            "weights of client {} as sender sum to {:.12g} in phase {} (push-sum needs 1 within 1e-9): correct its "
            "edges and self loop, or use `weights sender`",
            u, sum, phase);
    }
  }
}

void Topology::require_receiver_sums() const {
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (Client u = 0; u < clients_; ++u) {
      const double sum = receiver_sum(phase_links(phase, u));
      check(std::abs(sum - 1) <= sum_tolerance,
            "weights of client {} as receiver sum to {:.12g} in phase {} (plain mixing needs 1 within 1e-9): correct "
            "the edges to it and its self loop, or use `weights receiver`, or mix by push-sum",
            u, sum, phase);
    }
  }
}

}  // namespace starling
