#include "run_graph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/analysis/analysis.hpp"
#include "graph/overlays/overlays.hpp"
#include "step_cap_choice.hpp"
#include "tuning.hpp"

namespace starling {

namespace {

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
  const auto [least, most] = std::ranges::minmax_element(perron);
  const auto n = static_cast<double>(perron.size());
  return fmt::format("plain mixing counts client {} {:.3g} times and client {} {:.3g} times (1 is fair; push-sum is)",
                     most - perron.begin(), n * *most, least - perron.begin(), n * *least);
}

}  // namespace

RunGraph::RunGraph(OmdConfig& config, const GraphClients& clients, std::unique_ptr<Graph> topology,
                   std::vector<std::string>& notes)
    : config_(config), clients_(clients) {
  std::unique_ptr<Graph> graph = topology ? std::move(topology) : base();
  check_graph(*graph, notes);
  if (config_.mixing.running_sums && graph->period() == 0) {
    notes.emplace_back(
        "unacknowledged losses on a graph that never repeats: what is lost on an edge stays under way until that edge "
        "comes again, and both its ends keep a model's worth of sums for every edge that has ever come");
  }
  if (has_rule(config_) && !config_.given("gossip-steps"))
    config_.mixing.gossip_steps = tuned_gossip_steps(config_, graph->clients(), contraction_at_first_);
  even_masses_at_first_ = !config_.schedule.any() && keeps_masses_even(*graph);
  const std::vector<std::string> departures =
      departure_notes(*graph, config_.schedule, config_.rounds.value_or(std::numeric_limits<Round>::max()));
  notes.insert(notes.end(), departures.begin(), departures.end());
  make_schedule(std::move(graph));
  if (!clients_.members.has_changed()) return;
  at_first_ = std::exchange(schedule_, schedule_of_present());
  digest_ = schedule_->digest();
}

RunGraph::~RunGraph() = default;

void RunGraph::make_schedule() {
  make_schedule(base());
}

std::unique_ptr<Graph> RunGraph::base() const {
  if (config_.topology) return read_graph(*config_.topology);
  return make_graph(usual_family, clients_.at_first, WeightRule::sender);
}

std::unique_ptr<GraphOfSome> RunGraph::rewired() const {
  std::vector<Client> present = clients_.members.present();
  const WeightRule rule = config_.mixing.mixing == Mixing::push_sum ? WeightRule::sender : WeightRule::receiver;
  std::unique_ptr<Graph> graph = make_graph(clients_.rewired, static_cast<Client>(present.size()), rule);
  check(graph->ever_connects(),
        "--rewire {}: it never connects the {} clients that are there: models could not agree. Name another family.",
        clients_.rewired, present.size());
  return std::make_unique<GraphOfSome>(std::move(graph), std::move(present), clients_.now);
}

/// The graph of the clients that are there, with overlays. Throws UsageError if it does not connect them.
std::unique_ptr<Schedule> RunGraph::schedule_of_present() const {
  if (!clients_.rewired.empty()) {
    std::unique_ptr<GraphOfSome> graph = rewired();
    const OverlayTerms terms = overlay_terms(graph->graph(), config_.mixing, config_.data.seed);
    return overlaid(std::move(graph), config_.schedule, terms);
  }
  std::unique_ptr<Graph> graph = base();
  const OverlayTerms terms = overlay_terms(*graph, config_.mixing, config_.data.seed);
  require_connected_without(*graph, clients_.members.lost());
  Departures departures(static_cast<std::size_t>(graph->clients()));
  for (const Client u : clients_.members.lost()) departures[static_cast<std::size_t>(u)] = 0;
  auto left = std::make_unique<AttendedSchedule>(std::move(graph), nullptr, std::move(departures), terms.missing,
                                                 terms.steps_per_round);
  return overlaid(std::move(left), config_.schedule, terms);
}

/// The graph with its overlays, in so many exchanges a round.
void RunGraph::make_schedule(std::unique_ptr<Graph> graph) {
  const OverlayTerms terms = overlay_terms(*graph, config_.mixing, config_.data.seed);
  schedule_ = overlaid(std::move(graph), config_.schedule, terms);
  digest_at_first_ = digest_ = schedule_->digest();
}

void RunGraph::check_graph(const Graph& graph, std::vector<std::string>& notes) {
  require_connected(graph, config_.topology.value_or("FILE"));
  if (!config_.schedule.any() && !config_.mixing.deadline) {  // else no round is quite like another
    if (const std::string why = why_no_agreement(graph); !why.empty()) notes.push_back("the topology: " + why);
  }
  contraction_at_first_ = contraction_of(graph);
  // A joint window is no longer than the period.
  if (config_.rounds.value_or(1) < graph.period()) joint_window_ = joint_window_of(graph);
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph.require_sender_sums();
    return;
  }
  try {
    graph.require_receiver_sums();
  } catch (const UsageError& error) {
    notes.push_back(fmt::format("plain mixing: {}; models may shrink, grow or leave the domain", error.what()));
  }
  notes.push_back(describe_bias(graph, config_.schedule.any()));
}

std::string RunGraph::note_on_length(Round exchanges) const {
  if (!joint_window_ || *joint_window_ == 1 || *joint_window_ <= exchanges) return "";
  return fmt::format(
      "the topology: its edges connect all clients over {} exchanges, and this run has {}: some clients may not hear "
      "of others, and models do not agree. Play more rounds, raise --gossip-steps, or shorten the phases",
      *joint_window_, exchanges);
}

}  // namespace starling
