// What a client sends the aggregator, if not to be summed, has been released.
// Expected: Secret.*function<|function<.*Released<|cannot convert|could not convert|no known conversion
#include "starling/net/root/root.hpp"

#ifdef STARLING_MUST_FAIL
using Contribution = starling::Secret<starling::Vector>;
#else
using Contribution = starling::Released<starling::Vector>;
#endif

void leak(starling::Root& root, const Contribution& own, starling::Released<std::vector<std::byte>>& messages) {
  root.collect(
      {3}, [&own](std::size_t) -> const Contribution& { return own; }, starling::plain_codec(), messages);
}
