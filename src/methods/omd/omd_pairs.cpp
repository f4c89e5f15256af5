// Noise between pairs of clients in `starling omd` (--trust pairs).
#include <algorithm>

#include "omd_method.hpp"
#include "tuning.hpp"

namespace starling {

void OmdMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  std::unique_ptr<Graph> graph;
  run_.agreement.together([&] { graph = parts_.graph->base(); });
  pairs_ =
      std::make_shared<RunPairs>(run_.agreement, config_.privacy, graph->clients(), graph.get(), config_.data.seed);
}

std::optional<double> OmdMethod::hiding_of_pairs() const {
  if (!run_.first_rank() || !may_trust_pairs(config_)) return std::nullopt;
  const std::unique_ptr<Graph> graph = parts_.graph->base();
  return starling::hiding_of_pairs(config_.privacy, graph->clients(), graph.get(), config_.data.seed);
}

void OmdMethod::choose_closing_rounds() {
  if (!pairs_) return;
  require_known_ends(run_.agreement, run_.reads_pipes);
  const Round of_graph = closing_rounds(pairs_->terms(), run_.inputs.layout->clients(), parts_.graph->contraction(),
                                        config_.mixing.gossip_steps);
  const Round wanted = config_.schedule.any() ? 2 * of_graph : of_graph;  // absent clients and lost messages slow it
  config_.omd.closing = std::min(wanted, config_.omd.rounds);
  std::string note = fmt::format("{} round(s) of mixing alone follow the last one: noise between pairs cancels in them",
                                 config_.omd.closing);
  if (wanted > config_.omd.closing) {
    note += fmt::format(". This graph would want {}: take one that mixes faster, or more --gossip-steps", wanted);
  }
  run_.notes.push_back(std::move(note));
}

}  // namespace starling
