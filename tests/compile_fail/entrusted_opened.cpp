// What is entrusted can be read by nobody on its way.
// Expected: class starling::Entrusted<.*has no member named 'value'|no member named 'value' in 'starling::Entrusted<
#include "starling/privacy/without_noise.hpp"

#ifdef STARLING_MUST_FAIL
using Travelling = starling::Entrusted<starling::Vector>;
#else
using Travelling = starling::Released<starling::Vector>;
#endif

double leak(const Travelling& travelling) {
  return travelling.value()[0];
}
