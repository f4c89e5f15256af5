// The cost model of `starling doctor --predict`. doctor_costs.cpp measures the inputs of the model.
#include "doctor_predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "graph/topology.hpp"

namespace starling {

namespace {

struct Unit {
  std::string_view name;
  double size;
};
using Units = std::vector<Unit>;

/// Longer names first, so that "us" is not taken for "s".
const Units& times() {
  static const Units units{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  return units;
}
const Units& rates() {
  static const Units units{{"kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  return units;
}

const Units& sizes() {
  static const Units units{{"kB", 1e3}, {"MB", 1e6}, {"B", 1}};
  return units;
}

double with_unit(const std::string& key, const std::string& value, const Units& units) {
  std::string names;
  for (const Unit& unit : units) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
    if (!value.ends_with(unit.name)) continue;
    const double number = parse_number(value.substr(0, value.size() - unit.name.size()), "--predict, " + key);
    check(std::isfinite(number) && number >= 0, "--predict: {}={}; it must not be negative. Correct it.", key, value);
    return number * unit.size;
  }
  throw UsageError(fmt::format("--predict: {}={}; it must be a number with a unit: {}{}. Correct it.", key, value,
                               names, &units == &rates() ? "; per second" : ""));
}

template <class Integer>
Integer whole(const std::string& key, const std::string& value, long long most) {
  const long long number = parse_integer(value, "--predict, " + key);
  check(number >= 1 && number <= most, "--predict: {}={}; it must be from 1 to {}. Correct it.", key, value, most);
  return static_cast<Integer>(number);
}

/// Values that the user gives for a launch, before defaults are derived.
struct Said {
  Launch launch;
  std::optional<int> hosts;
  std::optional<int> ranks;
  std::optional<Client> clients;
  std::optional<double> latency;
  std::optional<double> bandwidth;
};

struct Key {
  std::string_view name;
  void (*take)(Said&, const std::string& value);
};

const std::vector<Key>& keys() {
  static const std::vector<Key> table{
      {"hosts", [](Said& said, const std::string& value) { said.hosts = whole<int>("hosts", value, 1'000'000); }},
      {"latency", [](Said& said, const std::string& value) { said.latency = with_unit("latency", value, times()); }},
      {"bandwidth",
       [](Said& said, const std::string& value) {
         said.bandwidth = with_unit("bandwidth", value, rates());
         check(*said.bandwidth > 0, "--predict: bandwidth={}; it must be positive. Correct it, or leave it out.",
               value);
       }},
      {"eager", [](Said& said, const std::string& value) { said.launch.eager = with_unit("eager", value, sizes()); }},
      {"clients",
       [](Said& said, const std::string& value) { said.clients = whole<Client>("clients", value, max_clients); }},
      {"dimension",
       [](Said& said, const std::string& value) {
         said.launch.dimension = whole<std::size_t>("dimension", value, 100'000'000);
       }},
      {"topology", [](Said& said, const std::string& value) { said.launch.topology = value; }},
      {"ranks", [](Said& said, const std::string& value) { said.ranks = whole<int>("ranks", value, 1'000'000); }},
      {"cpus",
       [](Said& said, const std::string& value) {
         said.launch.cpus = parse_number(value, "--predict, cpus");
         check(said.launch.cpus > 0 && said.launch.cpus <= 1e6,
               "--predict: cpus={}; those of each host must be positive, 0.5 where two hosts share one. Correct it.",
               value);
       }},
      {"batch",
       [](Said& said, const std::string& value) { said.launch.batch = whole<std::size_t>("batch", value, 1'000'000); }},
      {"message",
       [](Said& said, const std::string& value) { said.launch.message = with_unit("message", value, times()); }},
  };
  return table;
}

std::vector<std::string> known_keys() {
  return names_in(keys());
}

const Key* key_of(std::string_view name) {
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
  return found == keys().end() ? nullptr : &*found;
}

/// Key and value pairs. Pairs with unknown keys belong to the topology before them.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view item : split_at(text, ",")) {
    const auto equals = item.find('=');
    const bool known = equals != std::string_view::npos && key_of(item.substr(0, equals)) != nullptr;
    if (known) {
      pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    } else {
      check(!pairs.empty() && pairs.back().first == "topology" && !item.empty(),
            "--predict: '{}' is no key=value that is known: known are {}. {}", item, fmt::join(known_keys(), ", "),
            did_you_mean(item.substr(0, equals), known_keys(), "", "Correct it."));
      std::string& spec = pairs.back().second;
      spec += (spec.find(':') == std::string::npos ? ':' : ',') + std::string(item);
    }
  }
  return pairs;
}

bool is_file(const std::string& topology) {
  return std::filesystem::exists(topology) || topology.find('/') != std::string::npos || topology.ends_with(".topo");
}

/// Work of one rank in a round.
struct Load {
  double clients = 0;
  double gathered = 0;     ///< bytes
  double messages = 0;     ///< at its ends
  double far = 0;          ///< of these, to and from other hosts
  double longest_far = 0;  ///< bytes of a message
};

/// Work of all ranks in a round of the graph.
class Loads {
 public:
  Loads(const Launch& launch, const Graph& graph, Round t)
      : launch_(launch),
        layout_(graph.clients(), launch.ranks),
        of_ranks_(static_cast<std::size_t>(launch.ranks)),
        sent_(static_cast<std::size_t>(launch.hosts)),
        received_(sent_.size()),
        vectors_(of_ranks_.size()) {
    for (int rank = 0; rank < launch.ranks; ++rank) add_rank(graph, t, rank);
  }

  [[nodiscard]] const std::vector<Load>& of_ranks() const { return of_ranks_; }
  /// Bytes that the busiest host sends or receives over the network.
  [[nodiscard]] double busiest_host() const { return std::max(std::ranges::max(sent_), std::ranges::max(received_)); }

 private:
  void add_rank(const Graph& graph, Round t, int rank) {
    Load& load = of_ranks_[static_cast<std::size_t>(rank)];
    const Client first = layout_.first(rank);
    std::vector<int> others;
    for (Client u = first; u < first + layout_.count(rank); ++u) {
      const Links links = graph.links(u, t);
      load.clients += 1;
      load.gathered += static_cast<double>((links.in.size() + 1) * launch_.bytes_of_vector());
      int before = rank;
      for (const Arc& arc : links.out) {  // ascending, and so are their ranks
        const int to = layout_.rank_of(arc.peer);
        if (to == rank || to == before) continue;
        if (vectors_[static_cast<std::size_t>(to)]++ == 0) others.push_back(to);
        before = to;
      }
    }
    for (const int to : others) {
      add_message(rank, to, std::exchange(vectors_[static_cast<std::size_t>(to)], 0));
    }
  }

  void add_message(int from, int to, std::size_t vectors) {
    const double bytes = static_cast<double>(vectors * launch_.bytes_of_vector());
    const int here = launch_.host_of(from);
    const int there = launch_.host_of(to);
    for (const int end : {from, to}) {
      Load& load = of_ranks_[static_cast<std::size_t>(end)];
      load.messages += 1;
      if (here == there) continue;
      load.far += 1;
      load.longest_far = std::max(load.longest_far, bytes);
    }
    if (here == there) return;
    sent_[static_cast<std::size_t>(here)] += bytes;
    received_[static_cast<std::size_t>(there)] += bytes;
  }

  const Launch& launch_;
  Layout layout_;
  std::vector<Load> of_ranks_;
  std::vector<double> sent_;
  std::vector<double> received_;
  std::vector<std::size_t> vectors_;  ///< of the rank at work, for each other
};

RoundForecast round_of(const Launch& launch, const Loads& loads, const Costs& costs) {
  const double of_host = std::ceil(static_cast<double>(launch.ranks) / launch.hosts);
  const double stretch = std::max(1.0, of_host / launch.cpus);
  RoundForecast slowest;
  double exchanging = -1;
  double computing = -1;
  for (const Load& load : loads.of_ranks()) {
    const double learning = stretch * costs.learning * load.clients;
    const double mixing = stretch * costs.gathered * load.gathered;
    if (learning + mixing > computing) {
      computing = learning + mixing;
      slowest.learning = learning;
      slowest.mixing = mixing;
    }
    const double messages = stretch * costs.message * (load.messages - std::min(load.far, 2.0));
    const double ways = load.longest_far > launch.eager ? 3 : 1;  // there, the answer, and there
    const double latency = load.far > 0 ? ways * launch.latency : 0;
    if (messages + latency > exchanging) {
      exchanging = messages + latency;
      slowest.messages = messages;
      slowest.latency = latency;
    }
  }
  slowest.bandwidth = launch.bandwidth > 0 ? loads.busiest_host() / launch.bandwidth : 0;
  return slowest;
}

/// Rounds that stand for all: as many as are looked at in a few seconds, evenly over the period.
std::vector<Round> telling_rounds(const Graph& graph) {
  const Round period = graph.telling_rounds();
  const Round count = std::clamp<Round>(4'000'000 / graph.clients(), 1, std::min<Round>(period, 64));
  std::vector<Round> rounds;
  for (Round k = 0; k < count; ++k) rounds.push_back(k * period / count);
  return rounds;
}

Client default_clients(int ranks, const LaunchDefaults& defaults) {
  if (!defaults.clients_per_rank) return defaults.clients.value_or(static_cast<Client>(ranks));
  const std::int64_t clients = std::int64_t{*defaults.clients_per_rank} * ranks;
  check(clients <= max_clients,
        "--predict: {} clients on each of {} ranks; together they must be {} at most. Correct one.",
        *defaults.clients_per_rank, ranks, max_clients);
  return static_cast<Client>(clients);
}

}  // namespace

Launch parse_launch(const std::string& text, const LaunchDefaults& defaults) {
  Said said;
  said.launch.topology = defaults.topology.value_or(usual_family);
  said.launch.dimension = defaults.dimension;
  said.launch.cpus = defaults.cpus;
  std::vector<std::string> seen;
  for (const auto& [name, value] : pairs_of(text)) {
    check(std::ranges::find(seen, name) == seen.end(), "--predict: {}= stands twice. Delete one.", name);
    check(!value.empty(), "--predict: {}= has no value. Write one.", name);
    seen.push_back(name);
    key_of(name)->take(said, value);
  }
  Launch launch = said.launch;
  launch.hosts = said.hosts.value_or(1);
  launch.ranks = said.ranks.value_or(launch.hosts);
  check(launch.ranks >= launch.hosts, "--predict: {} ranks on {} hosts; every host has one at least. Correct one.",
        launch.ranks, launch.hosts);
  check(launch.hosts == 1 || said.latency.has_value(),
        "--predict: {} hosts without a latency, which is the time of a short message from one to another. The row "
        "`edges` of a doctor on two of them has it. Add latency=….",
        launch.hosts);
  launch.latency = said.latency.value_or(0);
  launch.bandwidth = said.bandwidth.value_or(0);
  launch.clients = said.clients.value_or(default_clients(launch.ranks, defaults));
  if (is_file(launch.topology)) {
    const Client clients = read_graph(launch.topology)->clients();
    const bool asked = said.clients || defaults.clients || defaults.clients_per_rank;
    check(!asked || launch.clients == clients,
          "--predict: {} clients are asked for but {} has {}; they must agree. Leave out clients=, --clients or "
          "--clients-per-rank.",
          launch.clients, launch.topology, clients);
    launch.clients = clients;
  }
  return launch;
}

void check_messages_known(const Launch& launch, bool timed) {
  if (launch.ranks == 1 || timed) return;
  check(launch.message.has_value(),
        "--predict of {} ranks by a doctor whose ranks have hosts of their own: messages cannot be timed. Start it "
        "with two ranks on a host (mpirun -n 2), or say what a message costs: message=1us.",
        launch.ranks);
}

std::unique_ptr<Graph> graph_of(const Launch& launch) {
  if (is_file(launch.topology)) return read_graph(launch.topology);
  return make_graph(launch.topology, launch.clients, WeightRule::sender);
}

RoundForecast predict(const Launch& launch, const Graph& graph, const Costs& costs) {
  RoundForecast mean;
  const std::vector<Round> rounds = telling_rounds(graph);
  const double share = 1 / static_cast<double>(rounds.size());
  for (const Round t : rounds) {
    const RoundForecast each = round_of(launch, Loads(launch, graph, t), costs);
    mean.learning += share * each.learning;
    mean.mixing += share * each.mixing;
    mean.messages += share * each.messages;
    mean.latency += share * each.latency;
    mean.bandwidth += share * each.bandwidth;
  }
  return mean;
}

std::string bound_of(const RoundForecast& prediction) {
  const std::array<std::pair<double, std::string_view>, 5> parts{{
      {prediction.learning, "learning: more ranks, smaller batches or fewer clients make it quicker"},
      {prediction.mixing, "mixing: more ranks, or a graph of lower degree make it quicker"},
      {prediction.messages, "the number of messages: fewer ranks, or a graph of lower degree make it quicker"},
      {prediction.latency, "the way to other hosts: only fewer hosts, or more work in a round, are of use"},
      {prediction.bandwidth,
       "bytes between hosts: a graph of lower degree, or one whose clients have their neighbours "
       "next to them make it quicker"},
  }};
  return std::string(
      std::ranges::max_element(parts, [](const auto& a, const auto& b) { return a.first < b.first; })->second);
}

}  // namespace starling
