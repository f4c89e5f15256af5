// The graph of `starling omd`, without clients that are lost, and what is chosen by it.
#include "omd_run.hpp"
#include <algorithm>
#include <limits>
#include <utility>

#include "starling/graph/analysis/analysis.hpp"

namespace starling {

namespace {

constexpr double step_cap_of_queues = 100;  ///< least that is chosen with --dual queue: steps are short and do not fall

/// The bias of plain mixing on this graph (docs/methods/decentralized.md).
std::string describe_bias(const Graph& graph, bool troubled) {
  if (troubled) {
    return "plain mixing counts clients unequally where they are absent unequally or links lose messages, beside what "
           "the graph itself does; push-sum does not";
  }
  if (graph.clients() > most_clients_analysed || graph.period() == 0) {
    return "plain mixing counts clients unequally on an unbalanced graph; starling topology check says by how much";
  }
  const std::vector<double> perron = analyse(GraphSample(graph)).perron;
  if (perron.empty()) return "plain mixing has no single limit on this graph; see starling topology check";
  const auto [least, most] = std::minmax_element(perron.begin(), perron.end());
  const auto n = static_cast<double>(perron.size());
  return fmt::format("plain mixing counts client {} {:.3g} times and client {} {:.3g} times (1 is fair; push-sum is)",
                     most - perron.begin(), n * *most, least - perron.begin(), n * *least);
}

}  // namespace

std::string OmdRun::why_no_client_is_lost() const {
  const auto because = [](const char* why) {
    return fmt::format("{}. Bring its private folder back, or start a run of its own with fewer --clients", why);
  };
  if (!config_.learns()) return because("--loss none averages the starts of all clients");
  if (config_.constraints.any()) return because("budgets and duals of constraints are those of all clients");
  if (config_.regret != RegretChoice::none) return because("--regret reads the records of all clients again");
  if (config_.privacy.ledger) return because("--ledger names ledgers of all clients");
  return "";
}

std::unique_ptr<Graph> OmdRun::base_graph() const {
  if (config_.topology) return read_graph(*config_.topology);
  return make_graph("directed-ring", layout_->clients(), WeightRule::sender);
}

OverlayTerms OmdRun::overlay_terms(const Graph& graph) const {
  OverlayTerms terms;
  terms.missing =
      missing_weight(graph, config_.mixing.mixing == Mixing::push_sum ? MixingSums::sender : MixingSums::receiver);
  terms.steps_per_round = config_.mixing.gossip_steps;
  terms.seed = config_.data.seed;
  return terms;
}

/// The graph of the clients that are left, with all else that befalls it. Throws UsageError if it does not connect
/// them.
std::unique_ptr<Schedule> OmdRun::schedule_without_lost() {
  const Client n = layout_->clients();
  std::unique_ptr<Graph> graph = base_graph();
  if (rewired_.empty()) {
    const OverlayTerms terms = overlay_terms(*graph);
    require_connected_without(*graph, lost_);
    Departures departures(static_cast<std::size_t>(n));
    for (const Client u : lost_.all()) departures[static_cast<std::size_t>(u)] = 0;
    auto left = std::make_unique<AttendedSchedule>(std::move(graph), nullptr, std::move(departures), terms.missing,
                                                   terms.steps_per_round);
    return overlaid(std::move(left), config_.schedule, terms);
  }
  std::vector<Client> left;
  for (Client u = 0; u < n; ++u) {
    if (!lost_.has(u)) left.push_back(u);
  }
  const WeightRule rule = config_.mixing.mixing == Mixing::push_sum ? WeightRule::sender : WeightRule::receiver;
  graph = make_graph(rewired_, static_cast<Client>(left.size()), rule);
  check(graph->ever_connects(),
        "--rewire {}: it never connects the {} clients that are left (models could not agree) "
        "name another family",
        rewired_, left.size());
  const OverlayTerms terms = overlay_terms(*graph);
  return overlaid(std::make_unique<GraphOfSome>(std::move(graph), std::move(left), n), config_.schedule, terms);
}

void OmdRun::open_graph() {
  std::unique_ptr<Graph> graph;
  if (config_.topology) graph = read_graph(*config_.topology);
  place_clients(graph ? std::optional(graph->clients()) : std::nullopt);
  if (!graph) graph = base_graph();
  check_graph(*graph);
  if (config_.mixing.running_sums && graph->period() == 0) {
    notes_.emplace_back(
        "unacknowledged losses on a graph that never repeats: what is lost on an edge stays under way until that edge "
        "comes again, and both its ends keep a model's worth of sums for every edge that has ever come");
  }
  if (has_rule(config_) && !config_.given("gossip-steps"))
    config_.mixing.gossip_steps = tuned_gossip_steps(config_, *graph);
  const OverlayTerms terms = overlay_terms(*graph);
  even_masses_ = !config_.schedule.any() && keeps_masses_even(*graph);
  const std::vector<std::string> departures =
      departure_notes(*graph, config_.schedule, config_.rounds.value_or(std::numeric_limits<Round>::max()));
  notes_.insert(notes_.end(), departures.begin(), departures.end());
  schedule_ = overlaid(std::move(graph), config_.schedule, terms);
  digest_at_first_ = schedule_->digest();
  if (!lost_.any()) return;
  config_.data.lost = lost_.all();
  schedule_at_first_ = std::exchange(schedule_, schedule_without_lost());
}

void OmdRun::check_graph(const Graph& graph) {
  check(graph.ever_connects(),
        "the topology never connects: some client cannot reach some other however long the run is (models could not "
        "agree) "
        "see starling topology check {}",
        config_.topology.value_or("FILE"));
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph.require_sender_sums();
    return;
  }
  try {
    graph.require_receiver_sums();
  } catch (const UsageError& error) {
    notes_.push_back(fmt::format("plain mixing: {}; models may shrink, grow or leave the domain", error.what()));
  }
  notes_.push_back(describe_bias(graph, config_.schedule.any()));
}

void OmdRun::choose_step_cap() {
  if (config_.step_cap) {
    cap_at_first_ = config_.omd.step_cap = *config_.step_cap;
    return;
  }
  cap_at_first_ = config_.omd.step_cap;
  if (!config_.learns()) return;
  const double least = config_.constraints.dual == DualMethod::queue ? step_cap_of_queues : 1;
  const auto chosen = [&](const Schedule& schedule, bool even) {
    return chosen_step_cap({agreement_, first_rank(), schedule, even, config_.mixing, config_.omd,
                            first_rounds(config_.omd.rounds), least});
  };
  cap_at_first_ = config_.omd.step_cap = chosen(lost_.any() ? *schedule_at_first_ : *schedule_, even_masses_);
  if (lost_.any()) config_.omd.step_cap = std::max(cap_at_first_, chosen(*schedule_, false));
  schedule_at_first_.reset();
}

}  // namespace starling
