// Noise between pairs of clients in `starling omd` (--trust pairs).
#include <algorithm>
#include <limits>

#include "omd_method.hpp"
#include "privacy/pairs/pair_price.hpp"

namespace starling {

void OmdMethod::choose_pairs() {
  if (!config_.privacy.trusts_pairs) return;
  std::unique_ptr<Graph> graph;
  run_.agreement.together([&] { graph = parts_.graph->base(); });
  pairs_ = std::make_shared<RunPairs>(run_.agreement, config_.privacy, *graph, config_.data.seed);
}

/// Clients that would hide each other, at least, if the user took --trust pairs; none where that is refused, or nobody
/// asks.
std::optional<double> OmdMethod::hiding_of_pairs() const {
  const Client clients = run_.inputs.layout->clients();
  if (!run_.first_rank() || clients < 3 || clients > PairGraph::most_clients_of_all || !may_trust_pairs(config_)) {
    return std::nullopt;
  }
  const std::unique_ptr<Graph> graph = parts_.graph->base();
  return least_hiding(chosen_pairs(config_.privacy, *graph, config_.data.seed), config_.privacy.collusion);
}

/// Pairs cancel only if all clients step in every round.
void OmdMethod::check_equal_rounds() {
  const Round planned = config_.omd.rounds;
  Round least = std::numeric_limits<Round>::max();
  Round most = 0;
  for (const ServedRounds& each : run_.inputs.served()) {
    const Round rounds = std::min(planned, each.of_all.value_or(planned));
    least = std::min(least, rounds);
    most = std::max(most, rounds);
  }
  least = run_.agreement.min(declare_public(least));
  most = run_.agreement.max(declare_public(most));
  run_.agreement.together([&] {
    check(least == most,
          "--trust pairs with clients of {} to {} rounds: pairs of a client whose records have ended no longer cancel. "
          "Give every client records, or use --trust local.",
          least, most);
    check(!run_.reads_pipes,
          "--trust pairs with records that come through a pipe: nobody knows when they end, and then pairs no longer "
          "cancel. Use files, or --trust local.");
  });
}

void OmdMethod::choose_closing_rounds() {
  if (!pairs_) return;
  check_equal_rounds();
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
