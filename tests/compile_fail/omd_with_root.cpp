// The decentralized protocol is built on the door between neighbours and cannot be given the aggregator's.
// Expected: Root.*to .*Neighbours
#include "starling/net/root.hpp"
#include "starling/protocol/omd.hpp"

#ifdef STARLING_MUST_FAIL
using Door = starling::Root;
#else
using Door = starling::Neighbours;
#endif

starling::DecentralizedOmd make(Door& door, const starling::Schedule& schedule, starling::MirrorMap& mirror,
                                const starling::Released<starling::Columns>& start) {
  return starling::DecentralizedOmd(door, schedule, mirror, std::nullopt, starling::OmdSettings(), start);
}
