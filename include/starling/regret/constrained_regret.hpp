/// Static regret of runs with long-term constraints (method 2, "Reports and numbers"): against the model that is best
/// among those which keep the constraints, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "starling/optimise/minimise_constrained.hpp"
#include "starling/protocol/constraints/constraint_set.hpp"
#include "starling/regret/growth.hpp"
#include "starling/regret/static_regret.hpp"

namespace starling {

/// Against x* = argmin_{x ∈ X} Σ_t Σ_u f_u,t(x) over the x with Σ_{t in window} Σ_u c_u,t(x) ≤ 0 for every constraint c
/// and every window of so many consecutive rounds (dissertation, section 4.2: the K-benchmark). All rounds together are
/// the long-term comparator.
struct ConstrainedRegret {
  std::optional<Round> window;  ///< K; none for all rounds
  double played = 0;
  std::int64_t client_rounds = 0;
  ConstrainedMinimum comparator;  ///< value, certificate and violation are per client-round
  Vector curve;                   ///< after each mark, against this same x*
  std::optional<GrowthFit> growth;

  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.minimum.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// Throws UsageError where constrained_regrets would, for so many rounds and parameters: before a run rather than
/// after.
void check_constrained_regret(const ConstraintSet& set, Round rounds, std::size_t dimension);

/// The long-term comparator's and, with a window, the K-benchmark's. Empty where no constraint is on models. The same
/// bits on every rank and for every layout. Every rank keeps the network's rows of all rounds: T (d + 1) numbers for
/// each constraint. **Collective.** Throws UsageError where these are more than 2·10^8.
[[nodiscard]] std::vector<ConstrainedRegret> constrained_regrets(const EvaluationPass& pass, const ConstraintSet& set,
                                                                 std::optional<Round> window);

/// A sentence for the notes of a run, where the comparator is not what it should be; else empty.
[[nodiscard]] std::string remark_on(const ConstrainedRegret& regret);

}  // namespace starling
