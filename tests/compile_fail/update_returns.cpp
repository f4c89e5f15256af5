// No value comes out of an update.
// Expected: nothing may come out of a Secret
#include "starling/core/boundary.hpp"

void leak(starling::Secret<double>& secret) {
#ifdef STARLING_MUST_FAIL
  secret.update([](double& value) { return value; });
#else
  secret.update([](double& value) { value = 0; });
#endif
}
