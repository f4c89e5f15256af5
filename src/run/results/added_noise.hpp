/// The noise that a run's releases have added to its common model.
#pragma once

#include <functional>
#include <string>

#include "core/columns.hpp"
#include "core/links.hpp"

namespace starling {

class RoundView;
struct AddedNoise;
struct BegunRun;

/// How the releases of this rank's clients enter the common model, which is the start minus
/// Σ_k,t weight_k η_t ĝ_k,t / Σ_k share_k.
struct ReleasedSteps {
  std::function<double(Round)> length;  ///< η_t of the release in round t
  Vector weights;                       ///< one per client of this rank
  Vector shares;                        ///< likewise
  bool in_all_rounds = false;           ///< the sum holds only where all clients have released in the same rounds
  std::string unknown;                  ///< why the sum does not hold; empty where it does. Of all ranks alike
};

/// The standard deviation of the noise in this sum, on rank 0. **Collective.**
[[nodiscard]] AddedNoise added_noise(const BegunRun& begun, const RoundView& view, const ReleasedSteps& steps);

}  // namespace starling
