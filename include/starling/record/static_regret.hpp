/// Static regret by an evaluation pass after the rounds (method 1, "Regret, as reported").
///
/// Regret = Σ_t Σ_u [f_u,t(x_u,t) − f_u,t(x*)] with x* = argmin_{x ∈ X} Σ_t Σ_u f_u,t(x), over the rounds t in which
/// client u took a step, and f_u,t(x) = (1/m) Σ_i ℓ_i(x) + (λ/2)‖x‖²: the losses as they are, un-clipped and un-noised.
/// No client knows x*. It is a model fitted to everybody's records without noise, so that the pass exists only where
/// metrics are shared.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "starling/data/stream.hpp"
#include "starling/model/model.hpp"
#include "starling/net/agreement.hpp"
#include "starling/privacy/mechanism.hpp"
#include "starling/record/minimise.hpp"

namespace starling {

struct StaticRegret {
  double played = 0;               ///< Σ_t Σ_u f_u,t(x_u,t)
  std::int64_t client_rounds = 0;  ///< how many f_u,t there are
  Minimum comparator;              ///< x*; value and certificate are per client-round

  /// Whether there is a best model to compare with (none if the losses fall without end).
  [[nodiscard]] bool exists() const { return comparator.ending != Minimum::Ending::unbounded; }
  /// Too small by at most client_rounds × the certificate where that is a gap.
  [[nodiscard]] double total() const { return played - static_cast<double>(client_rounds) * comparator.value; }
  [[nodiscard]] double per_client_round() const { return total() / static_cast<double>(client_rounds); }
};

/// What one rank's clients have played, and the same records once more.
struct EvaluationData {
  std::vector<std::unique_ptr<Stream>> streams;  ///< one per local client, at its first round
  std::vector<Secret<double>> played;            ///< Σ_t f_u,t(x_u,t) of each
  std::vector<Round> steps;                      ///< rounds in which each took a step: its first so many
  std::size_t batch = 1;                         ///< m
  double l2 = 0;                                 ///< λ
};

/// Reads the streams once, keeps their records in memory, and minimises. Sums go through the ranks in client order: the
/// result has the same bits on every rank and for every layout. `interrupted` is asked at each evaluation; one rank's
/// yes ends all.
/// **Collective.** Throws UsageError unless `policy` shares metrics, DataError if a stream gives fewer rounds than were
/// played.
[[nodiscard]] StaticRegret static_regret(Agreement& agreement, const MetricsPolicy& policy, Model& model,
                                         Domain& domain, const EvaluationData& data,
                                         const std::function<bool()>& interrupted);

/// A sentence for the notes of a run, where the comparator is not what it should be; else empty.
[[nodiscard]] std::string remark_on(const StaticRegret& regret);

}  // namespace starling
