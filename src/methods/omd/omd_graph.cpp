// The graph of `starling omd`, what is chosen by it, and the models of clients that join.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/numerics/kernels.hpp"
#include "graph/analysis/analysis.hpp"
#include "omd_run.hpp"

namespace starling {

namespace {

constexpr double step_cap_of_queues = 100;  ///< least that is chosen with --dual queue: steps are short and do not fall

}  // namespace

void OmdRun::open_graph() {
  std::unique_ptr<Graph> topology = inputs_.place_clients(config_.topology);
  choose_family();
  config_.data.lost = inputs_.members.lost();
  graph_.emplace(config_,
                 GraphClients{inputs_.members, inputs_.rewired, inputs_.clients_at_first(), inputs_.layout->clients()},
                 std::move(topology), notes_);
}

/// The family without --topology holds for any number of clients. A topology has as many as it has.
void OmdRun::choose_family() {
  if (!inputs_.members.any_joined() || !inputs_.rewired.empty()) return;
  check(
      !config_.topology,
      "--join: --topology '{}' has {} clients, and {} are there now (it does not say with whom the new ones mix). Give "
      "all of them a graph: --rewire exponential",
      config_.topology.value_or(""), inputs_.clients_at_first(), inputs_.members.present().size());
  inputs_.rewired = usual_family;
}

/// Gives local clients that join the mean models of their in-neighbours (docs/methods/decentralized.md, "Clients that
/// join"). **Collective.** Sums are in order of clients, so that they are the same for any layout.
void OmdRun::begin_after_changes(std::size_t first) {
  agreement_.together([&] {
    if (hosts_clients()) omd_->begin_anew();
  });
  std::vector<Client> joining;
  Round round = 0;
  for (std::size_t i = first; i < inputs_.members.changes().size(); ++i) {
    const Membership::Change& change = inputs_.members.changes()[i];
    round = change.round;
    if (change.kind == Membership::Change::Kind::loss) continue;
    std::ranges::copy_if(change.clients, std::back_inserter(joining),
                         [this](Client u) { return !inputs_.members.is_lost(u); });
  }
  if (joining.empty()) return;
  std::vector<Parentage> parents;
  agreement_.together([&] { parents = parents_of(*graph_->rewired(), joining, round * config_.mixing.gossip_steps); });
  const std::map<Client, Vector> models = mean_models(parents);
  for (const auto& [u, model] : models) {
    if (u < inputs_.first_client() || u >= inputs_.first_client() + inputs_.client_count()) continue;
    omd_->begin_at(static_cast<std::size_t>(u - inputs_.first_client()), declare_public(model));
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
    const bool here = parent >= inputs_.first_client() && parent < inputs_.first_client() + inputs_.client_count();
    Released<Vector> own = declare_public(Vector());
    if (here) {
      own = post_process([](const Columns& one) { return Vector(one[0].begin(), one[0].end()); },
                         omd_->some_models(static_cast<std::size_t>(parent - inputs_.first_client()), 1));
    }
    const Vector model = agreement_.all_gather(own)[static_cast<std::size_t>(inputs_.layout->rank_of(parent))];
    for (const Parentage& each : parents) {
      if (std::ranges::binary_search(each.parents, parent)) axpy(1, model, sums[each.client]);
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

void OmdRun::choose_step_cap() {
  if (config_.step_cap) {
    cap_at_first_ = config_.omd.step_cap = *config_.step_cap;
    if (!config_.learns()) return;
    config_.omd.longest = chosen_longest_step({agreement_, graph_->schedule(),
                                               !inputs_.members.has_changed() && graph_->even_masses_at_first(),
                                               config_.mixing, config_.omd, first_rounds(config_.omd.rounds)});
    graph_->forget_schedule_at_first();
    return;
  }
  cap_at_first_ = config_.omd.step_cap;
  if (!config_.learns()) return;
  const double least = config_.constraints.dual == DualMethod::queue ? step_cap_of_queues : 1;
  const auto chosen = [&](const Schedule& schedule, bool even) {
    return chosen_step_cap(
        {agreement_, schedule, even, config_.mixing, config_.omd, first_rounds(config_.omd.rounds), least});
  };
  cap_at_first_ = config_.omd.step_cap = chosen(graph_->schedule_at_first(), graph_->even_masses_at_first());
  if (inputs_.members.has_changed()) config_.omd.step_cap = std::max(cap_at_first_, chosen(graph_->schedule(), false));
  graph_->forget_schedule_at_first();
}

}  // namespace starling
