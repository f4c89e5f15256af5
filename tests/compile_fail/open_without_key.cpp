// A secret is opened by those who hold a key, and a key cannot be made elsewhere.
// Expected: OpenKey.*private|private.*OpenKey
#include "starling/core/boundary.hpp"

void leak(const starling::Secret<double>& secret) {
#ifdef STARLING_MUST_FAIL
  static_cast<void>(secret.open(starling::OpenKey()));
#else
  static_cast<void>(secret.map([](double value) { return 2 * value; }));
#endif
}
