#include "step_cap_choice.hpp"

#include <fmt/format.h>

#include "starling/core/check.hpp"

namespace starling {

bool keeps_masses_even(const Graph& graph) {
  try {
    graph.require_sender_sums();
    graph.require_receiver_sums();
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

double agreed_least_mass(Agreement& agreement, bool is_rank_0, const Schedule& schedule, bool even,
                         const MixingSettings& mixing, Round rounds) {
  if (even || mixing.mixing == Mixing::plain) return 1;
  double least = 1;
  agreement.together([&] {
    if (is_rank_0) least = least_mean_mass(schedule, {rounds, mixing.gossip_steps, mixing.lazy});
  });
  return std::stod(agreement.broadcast(declare_public(fmt::format("{:.17g}", least))));
}

std::string digest_of(double step_cap) {
  return step_cap == 1 ? "" : fmt::format(" step cap {:.17g}", step_cap);
}

}  // namespace starling
