// The graph of `starling omd`, for the clients that are there, and what is chosen by it.
#include "omd_run.hpp"
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "starling/core/numerics/kernels.hpp"
#include "starling/graph/analysis/analysis.hpp"

namespace starling {

namespace {

constexpr std::string_view usual_family = "directed-ring";  ///< without --topology
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

std::string OmdRun::why_same_clients() const {
  if (!config_.learns()) return "--loss none averages the starts of all clients";
  if (config_.constraints.any()) return "budgets and duals of constraints are those of all clients";
  if (config_.regret != RegretChoice::none) return "--regret reads the records of all clients again";
  if (config_.privacy.ledger) return "--ledger names ledgers of all clients";
  return "";
}

std::unique_ptr<Graph> OmdRun::base_graph() const {
  if (config_.topology) return read_graph(*config_.topology);
  return make_graph(std::string(usual_family), clients_at_first(), WeightRule::sender);
}

OverlayTerms OmdRun::overlay_terms(const Graph& graph) const {
  OverlayTerms terms;
  terms.missing =
      missing_weight(graph, config_.mixing.mixing == Mixing::push_sum ? MixingSums::sender : MixingSums::receiver);
  terms.steps_per_round = config_.mixing.gossip_steps;
  terms.seed = config_.data.seed;
  return terms;
}

/// The graph of a family that --rewire has named, for the clients that are there. Throws UsageError if it does not
/// connect them.
std::unique_ptr<GraphOfSome> OmdRun::rewired_graph() const {
  std::vector<Client> present = members_.present();
  const WeightRule rule = config_.mixing.mixing == Mixing::push_sum ? WeightRule::sender : WeightRule::receiver;
  std::unique_ptr<Graph> graph = make_graph(rewired_, static_cast<Client>(present.size()), rule);
  check(graph->ever_connects(),
        "--rewire {}: it never connects the {} clients that are there (models could not agree) name another family",
        rewired_, present.size());
  return std::make_unique<GraphOfSome>(std::move(graph), std::move(present), layout_->clients());
}

/// The graph of the clients that are there, with all else that befalls it. Throws UsageError if it does not connect
/// them.
std::unique_ptr<Schedule> OmdRun::schedule_of_present() const {
  if (!rewired_.empty()) {
    std::unique_ptr<GraphOfSome> graph = rewired_graph();
    const OverlayTerms terms = overlay_terms(graph->graph());
    return overlaid(std::move(graph), config_.schedule, terms);
  }
  std::unique_ptr<Graph> graph = base_graph();
  const OverlayTerms terms = overlay_terms(*graph);
  require_connected_without(*graph, members_.lost());
  Departures departures(static_cast<std::size_t>(graph->clients()));
  for (const Client u : members_.lost()) departures[static_cast<std::size_t>(u)] = 0;
  auto left = std::make_unique<AttendedSchedule>(std::move(graph), nullptr, std::move(departures), terms.missing,
                                                 terms.steps_per_round);
  return overlaid(std::move(left), config_.schedule, terms);
}

/// The family without --topology holds for any number of clients. A topology has as many as it has.
void OmdRun::choose_family() {
  if (!members_.any_joined() || !rewired_.empty()) return;
  check(
      !config_.topology,
      "--join: --topology '{}' has {} clients, and {} are there now (it does not say with whom the new ones mix). Give "
      "all of them a graph: --rewire exponential",
      config_.topology.value_or(""), clients_at_first(), members_.present().size());
  rewired_ = usual_family;
}

/// Gives local clients that join the mean models of their in-neighbours (docs/methods/decentralized.md, "Clients that
/// join"). **Collective.** Sums are in order of clients, so that they are the same for any layout.
void OmdRun::begin_after_changes(std::size_t first) {
  agreement_.together([&] {
    if (hosts_clients()) omd_->begin_anew();
  });
  std::vector<Client> joining;
  Round round = 0;
  for (std::size_t i = first; i < members_.changes().size(); ++i) {
    const Membership::Change& change = members_.changes()[i];
    round = change.round;
    if (change.kind == Membership::Change::Kind::loss) continue;
    std::copy_if(change.clients.begin(), change.clients.end(), std::back_inserter(joining),
                 [this](Client u) { return !members_.is_lost(u); });
  }
  if (joining.empty()) return;
  std::vector<Parentage> parents;
  agreement_.together([&] { parents = parents_of(*rewired_graph(), joining, round * config_.mixing.gossip_steps); });
  const std::map<Client, Vector> models = mean_models(parents);
  for (const auto& [u, model] : models) {
    if (u < first_client() || u >= first_client() + client_count()) continue;
    omd_->begin_at(static_cast<std::size_t>(u - first_client()), declare_public(model));
  }
}

/// The mean models of parents, which are released values. One parent's model at a time goes to all ranks.
/// **Collective.**
std::map<Client, Vector> OmdRun::mean_models(const std::vector<Parentage>& parents) {
  std::map<Client, Vector> sums;
  std::set<Client> known;
  for (const Parentage& each : parents) {
    sums.emplace(each.client, Vector(dimension_, 0.0));
    known.insert(each.parents.begin(), each.parents.end());
  }
  for (const Client parent : known) {
    if (sums.contains(parent)) continue;
    const bool here = parent >= first_client() && parent < first_client() + client_count();
    Released<Vector> own = declare_public(Vector());
    if (here) {
      own = post_process([](const Columns& one) { return Vector(one[0].begin(), one[0].end()); },
                         omd_->some_models(static_cast<std::size_t>(parent - first_client()), 1));
    }
    const Vector model = agreement_.all_gather(own)[static_cast<std::size_t>(layout_->rank_of(parent))];
    for (const Parentage& each : parents) {
      if (std::binary_search(each.parents.begin(), each.parents.end(), parent)) axpy(1, model, sums[each.client]);
    }
  }
  for (const Parentage& each : parents) {
    Vector& sum = sums[each.client];
    for (const Client parent : each.parents) {
      if (sums.contains(parent)) axpy(1, sums[parent], sum);
    }
    scale(1 / static_cast<double>(each.parents.size()), sum);
  }
  return sums;
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
  even_masses_ = !config_.schedule.any() && keeps_masses_even(*graph);
  const std::vector<std::string> departures =
      departure_notes(*graph, config_.schedule, config_.rounds.value_or(std::numeric_limits<Round>::max()));
  notes_.insert(notes_.end(), departures.begin(), departures.end());
  make_schedule(std::move(graph));
  if (!members_.has_changed()) return;
  choose_family();
  config_.data.lost = members_.lost();
  schedule_at_first_ = std::exchange(schedule_, schedule_of_present());
}

/// The graph, with all that befalls it in so many exchanges a round.
void OmdRun::make_schedule(std::unique_ptr<Graph> graph) {
  const OverlayTerms terms = overlay_terms(*graph);
  schedule_ = overlaid(std::move(graph), config_.schedule, terms);
  digest_at_first_ = schedule_->digest();
}

void OmdRun::check_graph(const Graph& graph) {
  check(graph.ever_connects(),
        "the topology never connects: some client cannot reach some other however long the run is (models could not "
        "agree) see starling topology check {}",
        config_.topology.value_or("FILE"));
  if (!config_.schedule.any() && !config_.mixing.deadline) {  // else no round is quite like another
    if (const std::string why = why_no_agreement(graph); !why.empty()) notes_.push_back("the topology: " + why);
  }
  // A joint window is no longer than the period.
  if (config_.rounds.value_or(1) < graph.period()) joint_window_ = joint_window_of(graph);
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

/// Notes a run with fewer exchanges than the graph needs to connect all clients.
void OmdRun::note_short_run() {
  if (!config_.learns() || !joint_window_ || *joint_window_ == 1) return;
  const Round exchanges = config_.omd.rounds * config_.mixing.gossip_steps;
  if (*joint_window_ <= exchanges) return;
  notes_.push_back(
      fmt::format("the topology: its edges connect all clients over {} exchanges, and this run has {} (some clients "
                  "may not hear of others, and models do not agree) play more rounds, raise --gossip-steps, or "
                  "shorten the phases",
                  *joint_window_, exchanges));
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
  cap_at_first_ = config_.omd.step_cap =
      chosen(members_.has_changed() ? *schedule_at_first_ : *schedule_, even_masses_);
  if (members_.has_changed()) config_.omd.step_cap = std::max(cap_at_first_, chosen(*schedule_, false));
  schedule_at_first_.reset();
}

}  // namespace starling
