/// Releases of figures that depend only on labels which everybody knows.
#pragma once

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// For runs whose privacy statement says that labels are known to all and not protected (`--labels all`).
class KnownLabels : Release {
 public:
  /// Writes sum / divisor to `mean`. The sum over records must depend only on such labels and on released numbers.
  static void publish(const Secret<Vector>& sum, double divisor, Released<Vector>& mean) {
    publish_unprotected(sum, divisor, mean);
  }
};

}  // namespace starling
