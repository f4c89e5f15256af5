/// Numbers computed from records that their owners have declared public.
#pragma once

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// For the held-out records of `--test`, which are public by declaration.
class DeclaredPublic : Release {
 public:
  /// Writes `values` to `released` as they are. They must depend only on such records and on released numbers.
  static void publish(const Secret<Vector>& values, Released<Vector>& released) {
    publish_unprotected(values, 1, released);
  }
};

}  // namespace starling
