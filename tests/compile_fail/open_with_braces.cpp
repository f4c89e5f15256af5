// Braces make no key either: it is not an aggregate.
// Expected: OpenKey.*private|private.*OpenKey
#include "starling/core/boundary.hpp"

void leak(const starling::Secret<double>& secret) {
#ifdef STARLING_MUST_FAIL
  static_cast<void>(secret.open({}));
#else
  static_cast<void>(secret);
#endif
}
