/// Static regret of runs with long-term constraints, against the best model that keeps the constraints
/// (docs/methods/constraints.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimise/minimise_constrained.hpp"
#include "protocol/constraints/constraint_set.hpp"
#include "regret/growth.hpp"
#include "regret/static_regret.hpp"

namespace starling {

/// Regret against x* = argmin_{x ∈ X} Σ_t Σ_u f_u,t(x) over the x with Σ_{t in window} Σ_u c_u,t(x) ≤ 0 for every
/// constraint c and every window of K consecutive rounds (the K-benchmark). A window of all rounds gives the long-term
/// comparator.
struct ConstrainedRegret {
  std::optional<Round> window;  ///< K; none for all rounds
  double played = 0;
  std::int64_t client_rounds = 0;
  ConstrainedMinimum comparator;  ///< value, certificate and violation are per client-round
  Vector curve;                   ///< regret after each mark, against the same x*
  std::optional<GrowthFit> growth;

  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.minimum.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// Checks before a run that constrained_regrets() can handle so many rounds and parameters. Throws UsageError.
void check_constrained_regret(const ConstraintSet& set, Round rounds, std::size_t dimension);

/// **Collective.** Regret against the long-term comparator and, with a window, against the K-benchmark. Empty where no
/// constraint is on models. The bits are the same on every rank and for every layout. Every rank keeps the network's
/// rows of all rounds: T (d + 1) numbers for each constraint. Throws UsageError for more than 2·10^8 numbers.
[[nodiscard]] std::vector<ConstrainedRegret> constrained_regrets(const EvaluationPass& pass, const ConstraintSet& set,
                                                                 std::optional<Round> window);

/// A sentence for the notes of a run if the comparator misses its tolerance or does not exist; otherwise empty.
[[nodiscard]] std::string remark_on(const ConstrainedRegret& regret);

}  // namespace starling
