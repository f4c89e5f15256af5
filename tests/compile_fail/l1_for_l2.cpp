// A Gaussian cannot be calibrated with an L1 bound.
// Expected: Norm::l1.*Norm::l2|Norm::l2.*Norm::l1|Bound<.*Bound<
#include "starling/privacy/noise/grid.hpp"

double scale_of(const starling::Sensitivity& sensitivity) {
#ifdef STARLING_MUST_FAIL
  return starling::gaussian_sigma(sensitivity.l1, 1);
#else
  return starling::gaussian_sigma(sensitivity.l2, 1);
#endif
}
