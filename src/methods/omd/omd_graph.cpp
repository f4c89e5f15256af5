// The graph of `starling omd`, and the step cap that is chosen by it.
#include <algorithm>
#include <utility>

#include "graph/graph.hpp"
#include "mirror/mirror.hpp"
#include "omd_method.hpp"
#include "protocol/decentralized/learning_rule.hpp"
#include "run/stages/run_context.hpp"
#include "run_graph.hpp"
#include "step_cap_choice.hpp"

namespace starling {

namespace {

constexpr double step_cap_of_queues = 100;  ///< least that is chosen with --dual queue: steps are short and do not fall

}  // namespace

void OmdMethod::open_graph() {
  std::unique_ptr<Graph> topology = config_.topology ? read_graph(*config_.topology) : nullptr;
  run_.inputs.place_clients(topology ? std::optional(topology->clients()) : std::nullopt);
  choose_family();
  config_.data.lost = run_.inputs.members.lost();
  parts_.graph = std::make_unique<RunGraph>(config_,
                                            GraphClients{run_.inputs.members, run_.inputs.rewired,
                                                         run_.inputs.clients_at_first(), run_.inputs.layout->clients()},
                                            std::move(topology), run_.notes);
}

/// The family without --topology holds for any number of clients. A topology has as many as it has.
void OmdMethod::choose_family() {
  if (!run_.inputs.members.any_joined() || !run_.inputs.rewired.empty()) return;
  check(!config_.topology,
        "--join: --topology '{}' has {} clients, and {} are there now: it does not say with whom the new ones mix. "
        "Give all of them a graph: --rewire exponential",
        config_.topology.value_or(""), run_.inputs.clients_at_first(), run_.inputs.members.present().size());
  run_.inputs.rewired = usual_family;
}

void OmdMethod::choose_step_cap() {
  if (pairs_ && !config_.step_cap) config_.step_cap = step_cap_of_pairs;  // where steps are cut off nothing cancels
  if (config_.step_cap) {
    cap_at_first_ = config_.omd.step_cap = *config_.step_cap;
    if (!config_.learns()) return;
    config_.omd.longest =
        chosen_longest_step({run_.agreement, parts_.graph->schedule(),
                             !run_.inputs.members.has_changed() && parts_.graph->even_masses_at_first(), config_.mixing,
                             config_.omd, run_.first_rounds(config_.omd.rounds)});
    parts_.graph->forget_schedule_at_first();
    return;
  }
  cap_at_first_ = config_.omd.step_cap;
  if (!config_.learns()) return;
  const double least = config_.constraints.dual == DualMethod::queue ? step_cap_of_queues : 1;
  const auto chosen = [&](const Schedule& schedule, bool even) {
    return chosen_step_cap(
        {run_.agreement, schedule, even, config_.mixing, config_.omd, run_.first_rounds(config_.omd.rounds), least});
  };
  cap_at_first_ = config_.omd.step_cap =
      chosen(parts_.graph->schedule_at_first(), parts_.graph->even_masses_at_first());
  if (run_.inputs.members.has_changed())
    config_.omd.step_cap = std::max(cap_at_first_, chosen(parts_.graph->schedule(), false));
  parts_.graph->forget_schedule_at_first();
}

}  // namespace starling
