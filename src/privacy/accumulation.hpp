/// The privacy loss of somebody with a record in each of many releases (docs/methods/privacy.md, "Correlated noise").
#pragma once

#include <cstdint>
#include <optional>

#include "core/links.hpp"
#include "privacy/correlation.hpp"

namespace starling {

/// The facts that say by how much the charges of n releases rise for somebody with a record in each of them. The
/// charges of independent noise do not rise: √n μ in all. Charges rise where a record moves later releases too, and
/// where one sum has several of the records.
struct Accumulation {
  std::optional<NoiseCorrelation> correlation = std::nullopt;  ///< of the noise over the releases
  double independent = 0;  ///< share of μ² of a second part of each release, whose noise is independent
  double once = 0;         ///< share of μ² of a sum over the records of all releases, which is released once
  Round first_rounds = 0;  ///< so many first releases are one sum, whose records are in nothing else

  /// Whether charges rise at all.
  [[nodiscard]] bool any() const { return correlation || independent > 0 || once > 0 || first_rounds > 0; }
  /// The factor on each of the charges of `releases` releases, 1 or more, rounded up.
  [[nodiscard]] double factor(std::int64_t releases) const;
};

}  // namespace starling
