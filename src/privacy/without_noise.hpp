/// The ways in which values computed from records leave without noise, other than metrics (privacy/metrics_policy.hpp).
/// The privacy statement of a run names each that is taken.
#pragma once

#include "privacy/mechanism.hpp"

namespace starling {

/// For the held-out records of `--test`, which are public by declaration.
class DeclaredPublic : Release {
 public:
  /// Writes `values` to `released` as they are. They must depend only on such records and on released numbers.
  static void publish(const Secret<Vector>& values, Released<Vector>& released) {
    publish_unprotected(values, 1, released);
  }
};

/// For runs whose privacy statement says that labels are known to all and not protected (`--labels all`).
class KnownLabels : Release {
 public:
  /// Writes sum / divisor to `mean`. The sum over records must depend only on such labels and on released numbers.
  static void publish(const Secret<Vector>& sum, double divisor, Released<Vector>& mean) {
    publish_unprotected(sum, divisor, mean);
  }
};

/// For runs whose privacy statement says that the party with the labels hands them to rank 0 (`--labels head`).
class HandedLabels : Release {
 public:
  static void publish(const Secret<Vector>& labels, Released<Vector>& handed) {
    publish_unprotected(labels, 1, handed);
  }
};

/// For `--trust central` and `private-paper`, whose privacy statements say that the aggregator is trusted.
class TrustedAggregator : Release {
 public:
  /// The value, for the interface to the aggregator.
  [[nodiscard]] static Entrusted<Vector> entrust(const Secret<Vector>& value) { return hand_over(value); }
};

}  // namespace starling
