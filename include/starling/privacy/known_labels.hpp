/// What is computed of labels that everybody knows.
#pragma once

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// Of runs whose privacy statement says that labels are known to all and not covered (`--labels all`).
class KnownLabels : Release {
 public:
  /// Writes sum / divisor to `mean`: a sum over records of what is made of such labels and of released numbers alone.
  static void publish(const Secret<Vector>& sum, double divisor, Released<Vector>& mean) {
    publish_unprotected(sum, divisor, mean);
  }
};

}  // namespace starling
