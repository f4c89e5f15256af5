// A sum that may be shown takes what has been released, not what the aggregator is trusted with.
// Expected: cannot convert.*lambda.*Released<
#include "starling/net/root.hpp"

#ifdef STARLING_MUST_FAIL
using Contribution = starling::Entrusted<starling::Vector>;
#else
using Contribution = starling::Released<starling::Vector>;
#endif

starling::Released<starling::Vector> leak(starling::Root& root, const Contribution& own) {
  return root.sum(3, [&own](std::size_t) -> const Contribution& { return own; });
}
