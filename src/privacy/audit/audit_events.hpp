/// Events on one statistic of the observations, and the choice of events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "privacy/audit/audit.hpp"

namespace starling {

/// Limits on an event's probabilities: at least `likely` under one side, at most `unlikely` under the other.
struct EventLimits {
  double likely = 0;
  double unlikely = 1;
};

/// Limits of Clopper and Pearson, each with half the error.
EventLimits exact_limits(std::int64_t likely, std::int64_t unlikely, std::int64_t trials, double error);
/// Limits of Wilson (1927) with four standard errors: two for the choice and two for the test. These limits are cheap,
/// for the choice among many events. With two standard errors, uncertain events in the tails win by luck, and their
/// tested bounds are smaller.
EventLimits rough_limits(double likely_share, double unlikely_share, double trials);

/// ln((p − δ)/q), not below 0: an (ε, δ) mechanism has p ≤ e^ε q + δ.
double epsilon_of(const EventLimits& limits, double delta);
/// Φ⁻¹(p) − Φ⁻¹(q), not below 0: a μ-GDP mechanism has Φ⁻¹(p) ≤ Φ⁻¹(q) + μ (Dong, Roth and Su 2022).
double mu_of(const EventLimits& limits);

/// A set of values of one statistic.
struct AuditSet {
  enum class Kind {
    at_least,  ///< [bounds[0], ∞)
    at_most,   ///< (−∞, bounds[0]]
    values,    ///< bounds, ascending
    bins,      ///< of the bins [bounds[i − 1], bounds[i]), the first and the last without end, those that are chosen
  };
  Kind kind = Kind::at_least;
  Vector bounds;
  std::vector<char> chosen;  ///< of bins: one more than bounds

  [[nodiscard]] bool holds(double value) const;
};

/// A candidate event for telling the two sides apart.
struct AuditCandidate {
  std::size_t statistic = 0;
  AuditSet set;
  int likelier = 1;
  double promise = 0;  ///< the bound that its frequencies would give in the half that judges, roughly
  std::string words;   ///< ">= 1.5", to stand after the statistic's name
};

/// The measure of an event's worth: at a claim's δ, or in μ.
struct AuditGoal {
  double delta = 0;
  bool gaussian = false;
  double judged = 0;  ///< observations of each side in the half that judges

  /// The bound that an event with these frequencies promises.
  [[nodiscard]] double promise(double likely, double unlikely) const;
};

/// The best events of every kind on one statistic, whose values on the two sides are given in ascending order: of each
/// kind, and in each direction, one. Kinds: thresholds (quantiles, tails and the edges of the other side's support),
/// unions of bins by likelihood ratio, a repeated exact value, and exact values that only one side repeats.
[[nodiscard]] std::vector<AuditCandidate> choose_events(std::size_t statistic, const std::array<Vector, 2>& sorted,
                                                        const AuditGoal& goal);

}  // namespace starling
