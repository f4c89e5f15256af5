// Shares are not released: they are summed modulo 2^64, by the door for that alone.
// Expected: Masked.*function<|function<.*Released<|cannot convert|could not convert|no known conversion
#include "starling/net/root/root.hpp"

std::size_t total(starling::Root& root, const starling::Masked& share) {
  const auto contribution = [&](std::size_t) -> const starling::Masked& { return share; };
#ifdef STARLING_MUST_FAIL
  return root.sum(1, contribution).value().size();
#else
  return root.sum_masked(1, contribution).size();
#endif
}
