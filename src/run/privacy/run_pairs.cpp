#include "run_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "core/check.hpp"
#include "graph/graph.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/mechanism/pair_keys.hpp"
#include "privacy/pairs/pair_price.hpp"

namespace starling {

namespace {

constexpr Round most_rounds_of_links = 64;

/// Pairs that send to each other in some round of a graph that repeats; of others none, as each round has new ones.
std::vector<PairGraph::Pair> links_of(const Schedule& schedule, Round rounds) {
  std::vector<PairGraph::Pair> pairs;
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 0; u < schedule.clients(); ++u) {
      for (const Arc& arc : schedule.links(u, t).out) pairs.emplace_back(u, arc.peer);
    }
  }
  return pairs;
}

PairGraph graph_of_file(const std::string& path, Client clients) {
  const std::unique_ptr<Graph> graph = read_graph(path);
  check(graph->clients() == clients, "--pairs {}: it has {} clients, and the run {}. Take a file of as many.", path,
        graph->clients(), clients);
  return PairGraph::of(clients, links_of(*graph, graph->telling_rounds()));
}

/// Of the total of a run, against those to whom noise exposes a client `factor` times as much.
PrivacyLoss scaled(const PrivacyLoss& own, double before, double factor) {
  PrivacyLoss loss = own;
  if (!own.mu) return loss;
  const double rounds = std::max(0.0, *own.mu * *own.mu - before * before);
  loss.mu = std::sqrt(before * before + rounds * factor) * (1 + 0x1p-40);
  loss.epsilon = gaussian_epsilon(*loss.mu, loss.delta);
  return loss;
}

void check_public_keys(const std::vector<MaskKey::Bytes>& keys, Client clients) {
  check<DataError>(std::ssize(keys) == clients,
                   "{} public keys came for the pairs of {} clients: whoever relays them changed them. Do not go on.",
                   keys.size(), clients);
  check(std::set<MaskKey::Bytes>(keys.begin(), keys.end()).size() == keys.size(),
        "two clients have the same public key: the noise of their pairs could be computed by both. Give each client a "
        "key of its own.");
}

}  // namespace

PairGraph chosen_pairs(const PrivacyOptions& options, Client clients, const Schedule* neighbours, std::uint64_t seed) {
  const std::string usual = clients <= most_clients_of_all_pairs ? "all" : "neighbours";
  const std::string choice = options.pairs_choice.value_or(usual);
  if (choice == "all") return PairGraph::all(clients);
  if (choice != "neighbours") return graph_of_file(choice, clients);
  const std::size_t least = 2 * static_cast<std::size_t>(options.collusion) + 16;
  std::vector<PairGraph::Pair> links;
  if (neighbours != nullptr) links = links_of(*neighbours, std::min(neighbours->period(), most_rounds_of_links));
  return PairGraph::filled(clients, links, least, seed);
}

std::optional<double> hiding_of_pairs(const PrivacyOptions& options, Client clients, const Schedule* neighbours,
                                      std::uint64_t seed) {
  if (clients < 3 || clients > PairGraph::most_clients_of_all) return std::nullopt;
  return least_hiding(chosen_pairs(options, clients, neighbours, seed), options.collusion);
}

void require_known_ends(Agreement& agreement, bool reads_pipes) {
  agreement.together([&] {
    check(!reads_pipes,
          "--trust pairs with records that come through a pipe: nobody knows when they end, and then pairs no longer "
          "cancel. Use files, or --trust local.");
  });
}

RunPairs::RunPairs(Agreement& agreement, const PrivacyOptions& options, Client clients, const Schedule* neighbours,
                   std::uint64_t seed)
    : graph_(PairGraph::of(clients, {})), colluding_(options.collusion) {
  std::string text;
  agreement.together([&] {
    graph_ = chosen_pairs(options, clients, neighbours, seed);
    check(
        static_cast<std::size_t>(colluding_) < graph_.least_degree(),
        "--trust pairs with --collusion {}: some client has {} partner(s), and if all of them collude nothing but its "
        "own noise hides it. Lower --collusion, take more clients or pairs, or --trust local.",
        colluding_, graph_.least_degree());
    if (agreement.rank() != 0) return;
    const double ratio = least_ratio(graph_, colluding_);
    text = fmt::format("{} {} {}", ratio, exposure(graph_, ratio, colluding_), exposure(graph_, ratio, 0));
  });
  agreement.same("pairs", declare_public(graph_.digest()));
  std::istringstream words(agreement.broadcast(declare_public(text)));
  words >> terms_.ratio >> terms_.exposure >> exposure_outside_;
  terms_ = PairTerms::of(graph_, terms_.ratio, terms_.exposure);
}

double RunPairs::price_of_mean(double mu) const {
  return mu / std::sqrt(terms_.exposure);
}

std::string RunPairs::text() const {
  return fmt::format("trust=pairs clients={} collusion={} ratio={} exposure={} pairs={} pairs-digest={}",
                     graph_.clients(), colluding_, terms_.ratio, terms_.exposure, graph_.pairs(), graph_.digest());
}

PairsTrust RunPairs::describe(const PrivacyLoss& own, double before) const {
  PairsTrust trust;
  trust.colluding = colluding_;
  trust.ratio = terms_.ratio;
  trust.exposure = terms_.exposure;
  trust.pairs = graph_.pairs();
  trust.least_partners = static_cast<std::int64_t>(graph_.least_degree());
  trust.digest = graph_.digest();
  trust.outsiders = scaled(own, before, exposure_outside_ / terms_.exposure);
  trust.all_others = scaled(own, before, 1 / terms_.exposure);
  return trust;
}

PairKeys agree_on_pair_keys(Agreement& agreement, const Layout& layout, const PairGraph& graph,
                            const std::vector<NoiseKey>& keys, const std::string& run_id, const std::string& attempt,
                            const Introductions* introductions) {
  std::vector<MaskKey> own;
  agreement.together([&] {
    for (const NoiseKey& key : keys) own.push_back(MaskKey::derived(key, run_id));
  });
  PairKeys result;
  result.public_keys = received_keys(own, relay_of(agreement, introductions, "public keys of pairs in run " + run_id));
  agreement.together([&] {
    check_public_keys(result.public_keys, layout.clients());
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Client u = layout.first(agreement.rank()) + static_cast<Client>(k);
      check<DataError>(result.public_keys[static_cast<std::size_t>(u)] == own[k].public_key(),
                       "the public key of client {} came back changed: whoever relays the keys may have exchanged it. "
                       "Do not go on.",
                       u);
      std::vector<PairEnd> ends = ends_of_client(u, own[k], result.public_keys, graph, run_id, attempt, result.ends);
      result.ends.emplace(u, std::move(ends));
    }
  });
  return result;
}

}  // namespace starling
