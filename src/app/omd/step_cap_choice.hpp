/// The step cap of a run (`--step-cap`).
#pragma once

#include <string>

#include "starling/graph/graph.hpp"
#include "starling/net/agreement.hpp"
#include "starling/protocol/decentralized/mixer.hpp"
#include "starling/protocol/decentralized/omd.hpp"

namespace starling {

/// Whether push-sum over this graph leaves every client a mass of 1: sender and receiver weights both sum to one.
[[nodiscard]] bool keeps_masses_even(const Graph& graph);

/// What a step cap is chosen by.
struct StepCapTerms {
  Agreement& agreement;
  bool is_rank_0;
  const Schedule& schedule;
  bool even;  ///< every client has a mass of 1 in every round
  const MixingSettings& mixing;
  OmdSettings settings;
  Round first_rounds;    ///< of a run that is resumed: how many it was to have at first; else those of the settings
  double least_cap = 1;  ///< κ is this or more
};

/// κ by which debts are repaid. The masses are those of the public schedule, which rank 0 follows; they are 1 under
/// plain mixing. Throws UsageError if the rounds that the run was to have at first lead to another κ. **Collective.**
[[nodiscard]] double chosen_step_cap(const StepCapTerms& terms);

/// What public inputs say of a step cap: nothing of 1, so that runs which need no other keep their digests.
[[nodiscard]] std::string digest_of(double step_cap);

}  // namespace starling
