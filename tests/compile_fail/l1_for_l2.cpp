// A Gaussian cannot be calibrated with an L1 bound.
// Expected: Norm::l1.*Norm::l2|Norm::l2.*Norm::l1|Bound<.*Bound<
#include "starling/privacy/noise/grid.hpp"

using starling::Bound;
using starling::Norm;

double scale_of(Bound<Norm::l1> l1, Bound<Norm::l2> l2) {
#ifdef STARLING_MUST_FAIL
  static_cast<void>(l2);
  return starling::gaussian_sigma(l1, 1);
#else
  static_cast<void>(l1);
  return starling::gaussian_sigma(l2, 1);
#endif
}
