#include "graph/analysis/separation.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace starling {

namespace {

constexpr double most_work = 1e9;  ///< clients and edges looked at

/// Strongly connected components of those clients that are `here`, over the union of all phases (Tarjan 1972, without
/// recursion). A client's receivers are those of all phases, one after the other.
class Components {
 public:
  Components(const Topology& topology, const std::vector<char>& here)
      : topology_(topology), here_(here), place_(here.size(), none), low_(here.size(), 0), open_(here.size(), 0) {}

  [[nodiscard]] std::vector<std::vector<Client>> all() {
    for (Client u = 0; u < topology_.clients(); ++u) {
      if (here_[index(u)] != 0 && place_[index(u)] == none) explore(u);
    }
    for (auto& component : found_) std::sort(component.begin(), component.end());
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static std::size_t index(Client u) { return static_cast<std::size_t>(u); }

  /// Position of the search among a client's receivers.
  struct Visit {
    Client client;
    std::size_t phase = 0;
    std::size_t next = 0;
  };

  void enter(Client u) {
    place_[index(u)] = low_[index(u)] = count_++;
    open_[index(u)] = 1;
    stack_.push_back(u);
    visits_.push_back({u});
  }

  /// The next receiver of the client at work that is here; none after the last.
  [[nodiscard]] std::optional<Client> next_receiver(Visit& visit) const {
    for (; visit.phase < topology_.phases(); ++visit.phase, visit.next = 0) {
      const auto receivers = topology_.receivers(visit.phase).of(visit.client);
      while (visit.next < receivers.size()) {
        const Client to = receivers[visit.next++];
        if (here_[index(to)] != 0) return to;
      }
    }
    return std::nullopt;
  }

  void explore(Client root) {
    enter(root);
    while (!visits_.empty()) {
      const Client u = visits_.back().client;
      if (const std::optional<Client> to = next_receiver(visits_.back())) {
        if (place_[index(*to)] == none) {
          enter(*to);
        } else if (open_[index(*to)] != 0) {
          low_[index(u)] = std::min(low_[index(u)], place_[index(*to)]);
        }
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) {
        const std::size_t before = index(visits_.back().client);
        low_[before] = std::min(low_[before], low_[index(u)]);
      }
      if (low_[index(u)] == place_[index(u)]) close(u);
    }
  }

  /// Client u is the first of its component that was entered: the component is what lies on the stack from there.
  void close(Client u) {
    auto& component = found_.emplace_back();
    Client last = u;
    do {
      last = stack_.back();
      stack_.pop_back();
      open_[index(last)] = 0;
      component.push_back(last);
    } while (last != u);
  }

  const Topology& topology_;
  const std::vector<char>& here_;
  std::vector<std::uint32_t> place_;  ///< in the order of entering
  std::vector<std::uint32_t> low_;    ///< least place that is known to be reached
  std::vector<char> open_;            ///< whether on the stack
  std::uint32_t count_ = 0;
  std::vector<Client> stack_;
  std::vector<Visit> visits_;
  std::vector<std::vector<Client>> found_;
};

double size_of(const Topology& topology) {
  double size = static_cast<double>(topology.clients());
  for (std::size_t phase = 0; phase < topology.phases(); ++phase) {
    size += static_cast<double>(topology.receivers(phase).peers.size());
  }
  return size;
}

}  // namespace

SeparationCheck check_departures(const GraphSample& sample, const Departures& departures) {
  const Topology& topology = sample.topology();
  std::map<Round, std::vector<Client>> leaving;
  for (std::size_t u = 0; u < departures.size(); ++u) {
    if (departures[u]) leaving[*departures[u]].push_back(static_cast<Client>(u));
  }
  std::vector<char> here(static_cast<std::size_t>(topology.clients()), 1);
  SeparationCheck result;
  double work = 0;
  for (auto& [round, clients] : leaving) {
    work += size_of(topology);
    if (work > most_work) {
      result.unknown_from = round;
      return result;
    }
    for (const Client u : clients) here[static_cast<std::size_t>(u)] = 0;
    auto components = Components(topology, here).all();
    if (components.size() < 2) continue;
    result.first = Separation{round, std::move(clients), std::move(components)};
    return result;
  }
  return result;
}

}  // namespace starling
