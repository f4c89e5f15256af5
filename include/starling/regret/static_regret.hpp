/// Static regret by an evaluation pass after the rounds (method 1, "Regret, as reported").
///
/// Regret = Σ_t Σ_u [f_u,t(x_u,t) − f_u,t(x*)] with x* = argmin_{x ∈ X} Σ_t Σ_u f_u,t(x), over the rounds t in which
/// client u took a step, and f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖²: the losses as they are, un-clipped and un-noised.
/// No client knows x*. It is a model fitted to everybody's records without noise, so that the pass exists only where
/// metrics are shared.
#pragma once

#include <string>

#include "starling/optimise/minimise.hpp"
#include "starling/regret/evaluation_pass.hpp"

namespace starling {

struct StaticRegret {
  double played = 0;               ///< Σ_t Σ_u f_u,t(x_u,t)
  std::int64_t client_rounds = 0;  ///< how many f_u,t there are
  Minimum comparator;              ///< x*; value and certificate are per client-round
  /// After each mark, against the model that is best for the rounds before it; NaN where it could not be found to
  /// within a hundredth of the regret.
  Vector curve = {};
  std::vector<Secret<double>> best = {};  ///< Σ_t f_u,t(x*) of each local client

  /// Whether there is a best model to compare with (none if the losses fall without end).
  [[nodiscard]] bool exists() const { return comparator.ending != Minimum::Ending::unbounded; }
  /// Too small by at most client_rounds × the certificate where that is a gap.
  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// The comparator of all rounds is searched from the domain's centre, those of the earlier marks, in rising order, each
/// from the one before and to a wider gap. The result has the same bits on every rank and for every layout, but for
/// `best`, which is each rank's own. **Collective.**
[[nodiscard]] StaticRegret static_regret(const EvaluationPass& pass);

/// A sentence for the notes of a run, where the comparator is not what it should be; else empty.
[[nodiscard]] std::string remark_on(const StaticRegret& regret);

}  // namespace starling
