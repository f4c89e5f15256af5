/// Mechanisms with one fault each, for tests of audits: not private, and in no table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "privacy/mechanism.hpp"

namespace starling {

/// For tests of audits; not private.
enum class PlantedFault {
  half_noise,        ///< half of the noise is added
  clamped_noise,     ///< noise is clamped to one scale on either side
  atom,              ///< noise beyond b is replaced by b/2, as the dissertation's mechanism does
  half_sensitivity,  ///< a replaced record is counted as moving the sum by C, where it moves it by 2C
  seeded_generator,  ///< every run has the same key
  forgotten_clip,    ///< gradients are not clipped
  bare_coordinate,   ///< the last coordinate carries the mean of the sum, without noise
  // Faults that only correlated noise can have:
  no_column_norm,   ///< the deviation is that of independent noise: 2C/μ, without the norm of the column
  unrounded_sums,   ///< noise is rounded to integers; what is taken back of earlier noise is not
  kept_sums,        ///< a client that goes on with other data takes back the noise that it had before
  noise_met_twice,  ///< the noise of an address and a sum is the same after other sums of noise are taken back
};

struct PlantedFaultRow {
  PlantedFault fault;
  std::string name;  ///< for tables: "half the noise"
};

/// The faults of single releases.
[[nodiscard]] const std::vector<PlantedFaultRow>& planted_faults();
/// The faults of correlated noise, and those of single releases that show in one coordinate of a chain.
[[nodiscard]] const std::vector<PlantedFaultRow>& planted_chain_faults();

/// The mechanism of the row with a fault, with the charges of the honest mechanism. For tests of audits; not private.
/// Faults of correlated noise need settings with a correlation. Throws UsageError as the row's maker does.
[[nodiscard]] std::unique_ptr<Mechanism> plant(PlantedFault fault, const MechanismRow& mechanism,
                                               const ReleaseSettings& settings);

}  // namespace starling
