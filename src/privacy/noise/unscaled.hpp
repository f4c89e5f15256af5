/// Mechanisms that scale their noisy vector by a number that they do not release.
#pragma once

#include "privacy/mechanism.hpp"

namespace starling {

/// Access to the noisy vector for audits. The scaling is post-processing, and may hide a privacy loss from the audit.
class Unscaled {
 public:
  virtual ~Unscaled() = default;
  /// Noisy vector of Mechanism::release, before the scaling.
  virtual void release_unscaled(const ReleaseAddress& address, double price, const NoiseKey& key,
                                const Secret<Vector>& sum, Released<Vector>& noisy) = 0;
};

}  // namespace starling
