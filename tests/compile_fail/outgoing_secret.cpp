// The block that goes out to neighbours is made of what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<|could not match 'Released' against 'Secret'
#include "starling/net/neighbours/neighbours.hpp"

#ifdef STARLING_MUST_FAIL
using Values = starling::Secret<starling::Columns>;
#else
using Values = starling::Released<starling::Columns>;
#endif

void leak(starling::Neighbours& neighbours, const starling::Neighbours::Plan& plan, const Values& values) {
  neighbours.outgoing(0, plan).update(
      [](starling::Columns& block, const starling::Columns& all) { block[0][0] = all[0][0]; }, values);
}
