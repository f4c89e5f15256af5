// The door between neighbours takes what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<
#include "starling/net/neighbours/neighbours.hpp"

#ifdef STARLING_MUST_FAIL
using Outgoing = starling::Secret<starling::Columns>;
#else
using Outgoing = starling::Released<starling::Columns>;
#endif

void leak(starling::Neighbours& neighbours, starling::Neighbours::Plan& plan, const Outgoing& outgoing) {
  neighbours.exchange(0, plan, outgoing);
}
