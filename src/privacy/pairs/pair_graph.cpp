#include "privacy/pairs/pair_graph.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/random.hpp"

namespace starling {

namespace {

/// All clients in a random order, of which neighbours are matched.
std::vector<Client> matching(Client clients, std::uint64_t seed, std::uint64_t number) {
  constexpr std::uint64_t no_client = std::numeric_limits<std::uint64_t>::max();
  AddressedRandom random(seed, Purpose::topology, no_client, number);
  std::vector<Client> order(static_cast<std::size_t>(clients));
  std::iota(order.begin(), order.end(), Client{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

PairGraph PairGraph::all(Client clients) {
  check(clients >= 1 && clients <= most_clients_of_all,
        "pairs of all {} clients: noise would be drawn for each of them in every release. Take pairs of neighbours for "
        "more than {}.",
        clients, most_clients_of_all);
  PairGraph graph(clients);
  for (Client u = 0; u < clients; ++u) {
    auto& partners = graph.partners_[static_cast<std::size_t>(u)];
    for (Client v = 0; v < clients; ++v) {
      if (v != u) partners.push_back(v);
    }
  }
  return graph;
}

PairGraph PairGraph::of(Client clients, const std::vector<Pair>& pairs) {
  check(clients >= 1, "{} clients: there must be one at least.", clients);
  PairGraph graph(clients);
  for (const auto& [u, v] : pairs) {
    check(u >= 0 && v >= 0 && u < clients && v < clients,
          "a pair of the clients {} and {}: there are {}, from 0. Name others.", u, v, clients);
    if (u == v) continue;
    graph.partners_[static_cast<std::size_t>(u)].push_back(v);
    graph.partners_[static_cast<std::size_t>(v)].push_back(u);
  }
  for (auto& partners : graph.partners_) {
    std::ranges::sort(partners);
    partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  }
  return graph;
}

PairGraph PairGraph::filled(std::size_t least, std::uint64_t seed) const {
  if (least + 1 >= partners_.size()) return all(clients());
  PairGraph graph = *this;
  for (std::uint64_t number = 0; graph.least_degree() < least; ++number) {
    const std::vector<Client> order = matching(clients(), seed, number);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      const Client u = order[i];
      const Client v = order[i + 1];
      if ((graph.degree(u) < least || graph.degree(v) < least) && !graph.has(u, v)) graph.add(u, v);
    }
  }
  return graph;
}

PairGraph PairGraph::among(const std::vector<Client>& some) const {
  std::vector<Client> place(partners_.size(), -1);
  for (std::size_t i = 0; i < some.size(); ++i) place[static_cast<std::size_t>(some[i])] = static_cast<Client>(i);
  PairGraph graph(static_cast<Client>(some.size()));
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (const Client v : partners(some[i])) {
      if (place[static_cast<std::size_t>(v)] >= 0) graph.partners_[i].push_back(place[static_cast<std::size_t>(v)]);
    }
  }
  return graph;
}

PairGraph PairGraph::numbered(const std::vector<Client>& numbers, Client clients) const {
  PairGraph graph(clients);
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    for (const Client v : partners_[i])
      graph.partners_[static_cast<std::size_t>(numbers[i])].push_back(numbers[static_cast<std::size_t>(v)]);
  }
  return graph;
}

bool PairGraph::has(Client u, Client v) const {
  return std::ranges::binary_search(partners(u), v);
}

void PairGraph::add(Client u, Client v) {
  const auto insert = [](std::vector<Client>& partners, Client other) {
    partners.insert(std::ranges::lower_bound(partners, other), other);
  };
  insert(partners_[static_cast<std::size_t>(u)], v);
  insert(partners_[static_cast<std::size_t>(v)], u);
}

std::size_t PairGraph::least_degree() const {
  return std::ranges::min(partners_, {}, [](const auto& partners) { return partners.size(); }).size();
}

std::size_t PairGraph::most_degree() const {
  return std::ranges::max_element(partners_, {}, [](const auto& partners) { return partners.size(); })->size();
}

std::int64_t PairGraph::pairs() const {
  std::int64_t ends = 0;
  for (const auto& partners : partners_) ends += std::ssize(partners);
  return ends / 2;
}

double PairGraph::square_degrees() const {
  double sum = 0;
  for (const auto& partners : partners_)
    sum += static_cast<double>(partners.size()) * static_cast<double>(partners.size());
  return sum;
}

std::string PairGraph::digest() const {
  Sha256 hash;
  hash.add(fmt::format("starling pairs 1\n{}\n", clients()));
  for (Client u = 0; u < clients(); ++u) {
    for (const Client v : partners(u)) {
      if (u < v) hash.add(fmt::format("{} {}\n", u, v));
    }
  }
  return hash.digest();
}

}  // namespace starling
