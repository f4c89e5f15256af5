/// Static regret by an evaluation pass after the rounds (docs/methods/decentralized.md).
///
/// Regret = Σ_t Σ_u [f_u,t(x_u,t) − f_u,t(x*)] with x* = argmin_{x ∈ X} Σ_t Σ_u f_u,t(x), over the rounds t in which
/// client u took a step, and f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖². Losses are neither clipped nor noised. No client
/// knows x*: the model is fitted to all records without noise. The pass therefore requires shared metrics.
#pragma once

#include <string>

#include "optimise/minimise.hpp"
#include "regret/evaluation_pass.hpp"

namespace starling {

/// The static regret of a run.
struct StaticRegret {
  double played = 0;               ///< Σ_t Σ_u f_u,t(x_u,t)
  std::int64_t client_rounds = 0;  ///< number of the f_u,t
  Minimum comparator;              ///< x*; value and certificate are per client-round
  /// Regret after each mark, against the best model for the rounds before the mark; NaN where the search could not
  /// bound the error by a hundredth of the regret.
  Vector curve = {};
  std::vector<Secret<double>> best = {};  ///< Σ_t f_u,t(x*) of each local client

  /// Whether there is a comparator; there is none if the losses have no minimum.
  [[nodiscard]] bool exists() const { return comparator.ending != Minimum::Ending::unbounded; }
  /// The regret. If the certificate is a gap, the regret is too small by at most client_rounds × the certificate.
  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// **Collective.** The search for the comparator of all rounds starts at the domain's centre. The searches for earlier
/// marks follow in rising order: each starts at the comparator before and ends at a wider gap. The result has the same
/// bits on every rank and for every layout, except `best`, which holds the rank's own clients.
[[nodiscard]] StaticRegret static_regret(const EvaluationPass& pass);

/// A sentence for the notes of a run if the comparator misses its tolerance or does not exist; otherwise empty.
[[nodiscard]] std::string remark_on(const StaticRegret& regret);

}  // namespace starling
