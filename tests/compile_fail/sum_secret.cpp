// What is secret passes the aggregator's door neither as it is nor as what the aggregator is trusted with.
// Expected: cannot convert.*lambda.*Entrusted<|no viable conversion from '.lambda.*Entrusted<
#include "starling/net/root/root.hpp"

#ifdef STARLING_MUST_FAIL
using Contribution = starling::Secret<starling::Vector>;
#else
using Contribution = starling::Entrusted<starling::Vector>;
#endif

starling::Secret<starling::Vector> leak(starling::Root& root, const Contribution& own) {
  return root.sum_entrusted(3, [&own](std::size_t) -> const Contribution& { return own; });
}
