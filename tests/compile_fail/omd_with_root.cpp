// The decentralized protocol mixes through the door between neighbours and cannot be given the aggregator's.
// Expected: Root.*to .*Neighbours
#include "starling/net/root/root.hpp"
#include "starling/protocol/decentralized/omd.hpp"
#include "starling/protocol/decentralized/synchronous_mixer.hpp"

#ifdef STARLING_MUST_FAIL
using Door = starling::Root;
#else
using Door = starling::Neighbours;
#endif

double mass_in_flight(Door& door, const starling::Schedule& schedule) {
  return starling::SynchronousMixer(door, schedule, starling::MixingSettings()).in_flight(0);
}
