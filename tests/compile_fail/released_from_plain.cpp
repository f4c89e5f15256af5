// A plain vector may be anything: it is not released by being called so.
// Expected: no matching .*Released
#include "starling/core/boundary.hpp"

starling::Released<starling::Vector> make(const starling::Vector& gradient) {
#ifdef STARLING_MUST_FAIL
  return starling::Released<starling::Vector>(gradient);
#else
  return starling::Released<starling::Vector>(starling::declare_public(gradient));
#endif
}
