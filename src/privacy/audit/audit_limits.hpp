/// From counts of an event to bounds on a loss.
#pragma once

#include <cstdint>

namespace starling {

/// Quantile of the standard normal distribution; infinite at 0 and 1.
double normal_quantile(double probability);
/// The standard normal distribution function.
double normal_cdf(double x);

/// Limits on an event's probabilities: at least `likely` under one side, at most `unlikely` under the other.
struct EventLimits {
  double likely = 0;
  double unlikely = 1;
};

/// Clopper and Pearson's, each with half the error.
EventLimits exact_limits(std::int64_t likely, std::int64_t unlikely, std::int64_t trials, double error);
/// Wilson's (1927) with four standard errors, two for the choosing and two for the judging: cheap, to choose among many
/// events. With two alone, events in the tails, whose shares are the least certain, win by luck and are judged less.
EventLimits rough_limits(double likely_share, double unlikely_share, double trials);

/// ln((p − δ)/q), not below 0: an (ε, δ) mechanism has p ≤ e^ε q + δ.
double epsilon_of(const EventLimits& limits, double delta);
/// Φ⁻¹(p) − Φ⁻¹(q), not below 0: a μ-GDP mechanism has Φ⁻¹(p) ≤ Φ⁻¹(q) + μ (Dong, Roth and Su 2022).
double mu_of(const EventLimits& limits);

}  // namespace starling
