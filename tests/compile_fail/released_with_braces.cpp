// Braces make no key to a release.
// Expected: ReleaseKey.*private|private.*ReleaseKey
#include "starling/core/boundary.hpp"

starling::Released<double> make(double gradient) {
#ifdef STARLING_MUST_FAIL
  return starling::Released<double>({}, gradient);
#else
  return starling::Released<double>(starling::declare_public(gradient));
#endif
}
