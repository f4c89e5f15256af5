#include "run_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <sstream>

#include "core/check.hpp"
#include "graph/graph.hpp"
#include "net/agreement.hpp"
#include "privacy/accounting/accounting.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "privacy/pairs/pair_price.hpp"
#include "privacy/statement/trust.hpp"
#include "run/settings/privacy_options.hpp"

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

std::vector<PairGraph::Pair> pairs_of_file(const std::string& path, const PairClients& clients) {
  const std::unique_ptr<Graph> graph = read_graph(path);
  check(clients.changed || graph->clients() == clients.all,
        "--pairs {}: it has {} clients, and the run {}. Take a file of as many.", path, graph->clients(), clients.all);
  return links_of(*graph, graph->telling_rounds());
}

/// Rounds of which the run's exposure is chosen.
constexpr Round most_rounds_tried = 256;

/// Of the total of a run, against those to whom noise exposes a client so many times as much: in rounds, and before
/// them at a μ of `before`.
PrivacyLoss scaled(const PrivacyLoss& own, double alone, double factor, double before, double factor_before) {
  PrivacyLoss loss = own;
  if (!own.mu) return loss;
  const double rounds = std::max(0.0, *own.mu * *own.mu - before * before - alone * alone);
  loss.mu = std::sqrt(alone * alone + before * before * factor_before + rounds * factor) * (1 + 0x1p-40);
  loss.epsilon = gaussian_epsilon(*loss.mu, loss.delta);
  return loss;
}

}  // namespace

PairClients PairClients::all_of(Client count) {
  PairClients clients{.all = count, .present = std::vector<Client>(static_cast<std::size_t>(count))};
  std::iota(clients.present.begin(), clients.present.end(), Client{0});
  return clients;
}

PairGraph chosen_pairs(const PrivacyOptions& options, const PairClients& clients, const Schedule* neighbours,
                       std::uint64_t seed) {
  const auto count = static_cast<Client>(clients.present.size());
  const std::string usual = count <= most_clients_of_all_pairs ? "all" : "neighbours";
  const std::string choice = options.pairs_choice.value_or(usual);
  if (choice == "all") return PairGraph::all(count);
  std::vector<PairGraph::Pair> links;
  if (choice != "neighbours") {
    links = pairs_of_file(choice, clients);
  } else if (neighbours != nullptr) {
    links = links_of(*neighbours, std::min(neighbours->period(), most_rounds_of_links));
  }
  const PairGraph given = PairGraph::of(clients.all, links).among(clients.present);
  if (choice != "neighbours" && !clients.changed) return given;
  return given.filled(2 * static_cast<std::size_t>(options.collusion) + 16, seed);
}

std::optional<double> hiding_of_pairs(const PrivacyOptions& options, Client clients, const Schedule* neighbours,
                                      std::uint64_t seed) {
  if (clients < 3 || clients > PairGraph::most_clients_of_all) return std::nullopt;
  return least_hiding(chosen_pairs(options, PairClients::all_of(clients), neighbours, seed), options.collusion);
}

void require_known_ends(Agreement& agreement, bool reads_pipes) {
  agreement.together([&] {
    check(!reads_pipes,
          "--trust pairs with records that come through a pipe: nobody knows when they end, and then pairs no longer "
          "cancel. Use files, or --trust local.");
  });
}

RunPairs::RunPairs(Agreement& agreement, const PrivacyOptions& options, PairClients clients, const Schedule* neighbours,
                   std::uint64_t seed)
    : clients_(std::move(clients)), graph_(PairGraph::of(clients_.all, {})), colluding_(options.collusion) {
  std::string text;
  agreement.together([&] {
    PairGraph present = chosen_pairs(options, clients_, neighbours, seed);
    least_partners_ = present.least_degree();
    const bool hides = static_cast<std::size_t>(colluding_) < least_partners_;
    check(
        hides || clients_.changed,
        "--trust pairs with --collusion {}: some client has {} partner(s), and if all of them collude nothing but its "
        "own noise hides it. {}ake more clients or pairs, or --trust local.",
        colluding_, least_partners_, least_partners_ > 0 ? "Lower --collusion, t" : "T");
    if (!hides) present = PairGraph::of(present.clients(), {});
    graph_ = present.numbered(clients_.present, clients_.all);
    if (agreement.rank() != 0) return;
    terms_.ratio = hides ? least_ratio(present, colluding_) : ratio_step;
    double coalition = exposure(present, terms_.ratio, colluding_);
    double nobody = exposure(present, terms_.ratio, 0);
    if (clients_.releases && hides) coalition = nobody = exposure_over_rounds(coalition);
    text = fmt::format("{} {} {} {} {}", terms_.ratio, coalition, nobody, exposure(present, largest_ratio, colluding_),
                       exposure(present, largest_ratio, 0));
  });
  agreement.same("pairs", declare_public(graph_.digest()));
  std::istringstream words(agreement.broadcast(declare_public(text)));
  words >> terms_.ratio >> terms_.exposure >> exposure_outside_ >> before_.exposure >> outside_before_;
  terms_ = PairTerms::of(graph_, terms_.ratio, terms_.exposure);
  before_ = PairTerms::of(graph_, largest_ratio, before_.exposure);
}

std::vector<Client> RunPairs::releasing(Round t) const {
  std::vector<Client> some;
  std::ranges::copy_if(clients_.present, std::back_inserter(some), [&](Client u) { return clients_.releases(u, t); });
  return some;
}

/// Where pairs with others are left out.
double RunPairs::exposure_of(const std::vector<Client>& clients) const {
  return clients.empty() ? 1 : quick_exposure(graph_.among(clients), terms_.ratio, colluding_);
}

/// The exposure by which the noise of the clients' sum is least, over the first rounds and those of departures: that of
/// one of these rounds, or that of the whole graph. A round of larger exposure has all its pairs, of which those with
/// one end there do not cancel.
double RunPairs::exposure_over_rounds(double of_whole) const {
  struct Tried {
    double exposure;
    double clients;
    double broken;  // pairs, of which one end releases
  };
  const Round count = clients_.present.size() > most_clients_of_all_pairs ? most_rounds_tried / 4 : most_rounds_tried;
  std::set<Round> rounds(clients_.departures.begin(), clients_.departures.end());
  for (Round t = 0; t < count; ++t) rounds.insert(t);
  std::vector<Tried> tried;
  std::vector<Client> before;
  for (const Round t : rounds) {
    const std::vector<Client> some = releasing(t);
    if (some.empty()) continue;
    if (tried.empty() || some != before) {
      const PairGraph left = graph_.among(some);
      std::size_t ends = 0;
      for (const Client u : some) ends += graph_.degree(u);
      tried.push_back({quick_exposure(left, terms_.ratio, colluding_), static_cast<double>(some.size()),
                       static_cast<double>(ends) - 2 * static_cast<double>(left.pairs())});
    } else {
      tried.push_back(tried.back());
    }
    before = some;
  }
  const double square = terms_.ratio * terms_.ratio;
  const auto noise = [&](double h) {
    double sum = 0;
    for (const Tried& each : tried) sum += h * (each.clients + (each.exposure > h ? square * each.broken : 0));
    return sum;
  };
  double best = of_whole;
  for (const Tried& each : tried) {
    if (each.exposure > of_whole && noise(each.exposure) < noise(best)) best = each.exposure;
  }
  return best;
}

PairRounds RunPairs::rounds() const {
  if (!clients_.releases) return {};
  return {clients_.releases, [this](Round t) { return exposure_of(releasing(t)) > terms_.exposure; }};
}

double RunPairs::price_of_mean(double mu) const {
  return mu / std::sqrt(terms_.exposure);
}

std::string RunPairs::text(const PairTerms& terms) const {
  return fmt::format("trust=pairs clients={} collusion={} ratio={} exposure={} pairs={} pairs-digest={}",
                     graph_.clients(), colluding_, terms.ratio, terms.exposure, graph_.pairs(), graph_.digest());
}

PairsTrust RunPairs::describe(const PrivacyLoss& own, double before, double alone) const {
  PairsTrust trust;
  trust.colluding = colluding_;
  trust.ratio = terms_.ratio;
  trust.exposure = terms_.exposure;
  trust.pairs = graph_.pairs();
  trust.least_partners = static_cast<std::int64_t>(least_partners_);
  trust.digest = graph_.digest();
  // Before clients changed, the exposure was another. No client has hidden among more than all but the coalition.
  const double hidden = std::max(1.0, static_cast<double>(clients_.all - colluding_));
  if (clients_.changed) {
    trust.outsiders = own;
    trust.all_others = scaled(own, alone, hidden, before, hidden);
  } else {
    trust.outsiders =
        scaled(own, alone, exposure_outside_ / terms_.exposure, before, outside_before_ / before_.exposure);
    trust.all_others = scaled(own, alone, 1 / terms_.exposure, before, 1 / before_.exposure);
  }
  return trust;
}

}  // namespace starling
