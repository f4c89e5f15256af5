/// Mechanisms that scale what they have made noisy by a number that they do not release.
#pragma once

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// The noisy vector itself is what an audit must see: the rest is post-processing, and may hide what it shows.
class Unscaled {
 public:
  virtual ~Unscaled() = default;
  /// As Mechanism::release, before the scaling.
  virtual void release_unscaled(const ReleaseAddress& address, double price, const NoiseKey& key,
                                const Secret<Vector>& sum, Released<Vector>& noisy) = 0;
};

}  // namespace starling
