// What the aggregator sends one client has been released.
// Expected: Secret.*function<|function<.*Released<|cannot convert|could not convert|no known conversion
#include "starling/net/root/root.hpp"

#ifdef STARLING_MUST_FAIL
using Contribution = starling::Secret<starling::Vector>;
#else
using Contribution = starling::Released<starling::Vector>;
#endif

void leak(starling::Root& root, const Contribution& own) {
  root.distribute(
      {3}, [&own](starling::Client) -> const Contribution& { return own; }, starling::plain_codec(),
      [](std::size_t, const starling::Released<starling::Vector>&) {});
}
