/// The multiplication of final models by which their probabilities are made right (docs/methods/learning-rule.md,
/// "Probabilities").
#pragma once

#include <optional>

#include "core/columns.hpp"
#include "report/summary.hpp"
#include "run/stages/method.hpp"

namespace starling {

struct Outcome;

/// Where the run has a share of its price for that, clients release sums over the scores of their records under the
/// mean model, and all models are multiplied by the factor that these show. Notes it. None for a run that was stopped,
/// without such a share, or whose sums cannot be released. **Collective.**
[[nodiscard]] std::optional<ScaledScores> scale_scores(const BegunRun& begun, const Play& play, const Outcome& outcome,
                                                       Released<Columns>& models);

}  // namespace starling
