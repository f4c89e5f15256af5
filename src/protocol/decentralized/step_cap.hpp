/// The step cap κ: no step is longer than κ times the first (docs/methods/decentralized.md, "Step debt").
#pragma once

#include "protocol/decentralized/omd.hpp"

namespace starling {

/// Least mass that a step cap is made for, as a share of the average mass: κ stays below 1.25 / least_repaid_mass.
constexpr double least_repaid_mass = 1e-3;

/// Mean of η_t / η_1 over all rounds, exact to 1e-6.
[[nodiscard]] double mean_step(const OmdSettings& settings);

/// Least κ ≥ 1 with which a client of mean mass w repays its debt within the run, with a quarter to spare and rounded
/// up to three digits:
///
///   κ = max(1, 1.25 · mean(η_t / η_1) / w),
///
/// and where steps fall to zero along a line, so that a debt of long steps would be repaid among short ones,
///
///   κ = max(1, 1.25 / w), with which there is none; w counts as 0.0125 at least.
///
/// 1 where no mass is below the average.
[[nodiscard]] double repaying_step_cap(const OmdSettings& settings, double least_mass);

/// L, the longest step that a client of mean mass w can take within κ, with a fifth to spare, where steps fall to zero:
/// all clients step by that at most, so that none owes. Infinite if κ allows the first step, and for other schedules.
[[nodiscard]] double longest_fair_step(const OmdSettings& settings, double least_mass);

}  // namespace starling
