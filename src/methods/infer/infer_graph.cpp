// The graph of `starling infer`, and the pairs of clients that hide each other.
#include "graph/analysis/analysis.hpp"
#include "graph/graph.hpp"
#include "graph/overlays/overlays.hpp"
#include "infer_method.hpp"
#include "methods/omd/step_cap_choice.hpp"
#include "run/privacy/pairs/run_pairs.hpp"
#include "run/settings/schedule_options.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

void InferMethod::open_graph() {
  std::unique_ptr<Graph> graph = config_.topology ? read_graph(*config_.topology) : nullptr;
  run_.inputs.place_clients(graph ? std::optional(graph->clients()) : std::nullopt);
  if (!graph) return;
  require_connected(*graph, *config_.topology);
  parts_.contraction = contraction_of(*graph);
  if (const std::string why = why_no_agreement(*graph); !why.empty()) run_.notes.push_back("the topology: " + why);
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph->require_sender_sums();
  } else {
    graph->require_receiver_sums();
    run_.notes.emplace_back(
        "plain mixing counts clients unequally on an unbalanced graph, and their estimates with them; starling "
        "topology check says by how much");
  }
  const OverlayTerms terms = overlay_terms(*graph, config_.mixing, config_.data.seed);
  even_masses_ = keeps_masses_even(*graph);
  parts_.schedule = overlaid(std::move(graph), ScheduleOptions(), terms);
}

void InferMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  std::unique_ptr<Graph> graph;
  if (config_.topology) run_.agreement.together([&] { graph = read_graph(*config_.topology); });
  pairs_ =
      std::make_shared<RunPairs>(run_.agreement, config_.privacy, PairClients::all_of(run_.inputs.layout->clients()),
                                 graph.get(), config_.data.seed);
  require_known_ends(run_.agreement, run_.reads_pipes);
}

}  // namespace starling
