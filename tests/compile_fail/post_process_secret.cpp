// Post-processing is of what has been released.
// Expected: no matching function for call to .*post_process
#include "starling/core/boundary.hpp"

#ifdef STARLING_MUST_FAIL
using Input = starling::Secret<double>;
#else
using Input = starling::Released<double>;
#endif

double twice(const Input& input) {
  return starling::post_process([](double value) { return 2 * value; }, input).value();
}
