/// The step cap κ: no step is longer than κ times the first (docs/methods/decentralized.md, "Step debt").
#pragma once

#include "starling/protocol/decentralized/omd.hpp"

namespace starling {

/// Least mass that a step cap is made for, as a share of the average mass: κ stays below 1.25 / least_repaid_mass.
constexpr double least_repaid_mass = 1e-3;

/// Mean of η_t / η_1 over all rounds, exact to 1e-6.
[[nodiscard]] double mean_step(const OmdSettings& settings);

/// Least κ ≥ 1 with which a client of mean mass w repays its debt within the run, with a quarter to spare and rounded
/// up to three digits:
///
///   κ = max(1, 1.25 · mean(η_t / η_1) / w).
///
/// 1 where no mass is below the average.
[[nodiscard]] double repaying_step_cap(const OmdSettings& settings, double least_mass);

}  // namespace starling
