// The aggregator's door takes what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<
#include "starling/net/root/root.hpp"

#ifdef STARLING_MUST_FAIL
using Block = starling::Secret<starling::Columns>;
#else
using Block = starling::Released<starling::Columns>;
#endif

starling::Columns leak(starling::Root& root, const Block& block) {
  return root.gather(block);
}
