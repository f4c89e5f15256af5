// A sum of what the aggregator is trusted with is its secret, and comes from the door for that alone.
// Expected: Released<.*Entrusted<|Entrusted<.*Released<|no match|no known conversion|could not convert|cannot convert
#include "starling/net/root/root.hpp"

#ifdef STARLING_MUST_FAIL
using Contribution = starling::Entrusted<starling::Vector>;
#else
using Contribution = starling::Released<starling::Vector>;
#endif

starling::Vector leak(starling::Root& root, const Contribution& contribution) {
  return root.sum(1, [&](std::size_t) -> const Contribution& { return contribution; }).value();
}
