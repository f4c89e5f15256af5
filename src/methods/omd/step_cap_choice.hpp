/// The step cap of a run (`--step-cap`).
#pragma once

#include <string>

#include "protocol/decentralized/settings.hpp"

namespace starling {

class Agreement;
class Graph;
class Schedule;
struct MixingSettings;

/// Whether push-sum over this graph leaves every client a mass of 1: sender and receiver weights both sum to one.
[[nodiscard]] bool keeps_masses_even(const Graph& graph);

/// Terms by which a step cap is chosen.
struct StepCapTerms {
  Agreement& agreement;
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

/// StepSchedule::longest under the step cap of the settings. **Collective.**
[[nodiscard]] double chosen_longest_step(const StepCapTerms& terms);

/// The text of a step cap among public inputs. A cap of 1 has none, so that digests of runs without a larger cap stay.
[[nodiscard]] std::string digest_of(double step_cap);

}  // namespace starling
