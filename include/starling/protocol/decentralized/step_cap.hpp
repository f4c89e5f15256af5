/// The step cap κ: no step exceeds κ times the first round's (step debt).
#pragma once

#include "starling/protocol/decentralized/omd.hpp"

namespace starling {

/// Masses below this share of the average count as this much: κ stays below 1.25 / least_repaid_mass.
constexpr double least_repaid_mass = 1e-3;

/// η_t = c / (t + 1 + i0)^p of round t ≥ 0.
[[nodiscard]] double step_size(const OmdSettings& settings, Round t);

/// Mean over all rounds of η_t / η_1. Exact to 1e-6.
[[nodiscard]] double mean_step(const OmdSettings& settings);

/// Least κ ≥ 1 by which a client of mean mass w repays its debt within the rounds, with a quarter to spare, rounded up
/// to three digits: κ = max(1, 1.25 · mean(η_t/η_1) / w). A client takes κ η_1 w a round at most and is credited η_t.
/// Because η_t falls, what it owes after the last round is Σ η_t − T κ η_1 w, or nothing if that is negative. κ is 1
/// where no mass is below the average.
[[nodiscard]] double repaying_step_cap(const OmdSettings& settings, double least_mass);

}  // namespace starling
