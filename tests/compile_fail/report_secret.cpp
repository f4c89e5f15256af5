// Reports of progress take what has been released.
// Expected: Released<.*Secret<|Secret<.*Released<
#include "starling/net/agreement.hpp"

#ifdef STARLING_MUST_FAIL
using Numbers = starling::Secret<starling::Vector>;
#else
using Numbers = starling::Released<starling::Vector>;
#endif

void leak(starling::Agreement& agreement, const Numbers& numbers) {
  agreement.report(numbers);
}
