// A mechanism calibrated in L2 cannot be given an L1 bound.
// Expected: Norm::l1.*Norm::l2|Norm::l2.*Norm::l1|Bound<.*Bound<
#include "starling/core/boundary.hpp"

double gaussian_scale(starling::Bound<starling::Norm::l2> bound) {
  return 3 * bound.value;
}

double scale_of(const starling::Sensitivity& sensitivity) {
#ifdef STARLING_MUST_FAIL
  return gaussian_scale(sensitivity.l1);
#else
  return gaussian_scale(sensitivity.l2);
#endif
}
