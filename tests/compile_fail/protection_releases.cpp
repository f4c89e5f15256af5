// A protection under which single clients' sums stay hidden cannot be asked to release one.
// Expected: MaskedGaussian.* has no member named 'release'|no member named 'release' in 'starling::MaskedGaussian'
#include "starling/privacy/mechanism/masked_gaussian.hpp"

#ifdef STARLING_MUST_FAIL
using Kind = starling::MaskedGaussian;
#else
using Kind = starling::Mechanism;
#endif

void leak(Kind& kind, const starling::NoiseKey& key, const starling::Secret<starling::Vector>& sum,
          starling::Released<starling::Vector>& mean) {
  kind.release({}, 1, key, sum, mean);
}
