// What an aggregator is trusted with does not pass the door between neighbours.
// Expected: Released<.*Entrusted<|Entrusted<.*Released<
#include "starling/net/neighbours/neighbours.hpp"

#ifdef STARLING_MUST_FAIL
using Outgoing = starling::Entrusted<starling::Columns>;
#else
using Outgoing = starling::Released<starling::Columns>;
#endif

void leak(starling::Neighbours& neighbours, starling::Neighbours::Plan& plan, const Outgoing& outgoing) {
  neighbours.exchange(0, plan, outgoing);
}
