// A release must name the path by which it leaves its client.
// Expected: could not convert|cannot convert|no matching function|cannot initialize|invalid initialization
#include "starling/privacy/mechanism.hpp"

#ifdef STARLING_MUST_FAIL
#define PATH
#else
#define PATH starling::ReleasePath::by_itself,
#endif

void leave(starling::Mechanism& mechanism, const starling::NoiseKey& key, const starling::Secret<starling::Vector>& sum,
           starling::Released<starling::Vector>& mean) {
  mechanism.release({PATH 0, 0, 0}, 1, key, sum, mean);
}
