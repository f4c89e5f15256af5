/// Bounds on a privacy loss from the counts of an event.
#pragma once

#include <cstdint>

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

}  // namespace starling
