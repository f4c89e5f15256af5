/// What clients hand to an aggregator that they trust, un-noised: for `--trust central` and `private-paper` alone,
/// whose privacy statements say so.
#pragma once

#include "starling/privacy/mechanism.hpp"

namespace starling {

class TrustedAggregator : protected Release {
 public:
  /// The value, for the aggregator's door.
  [[nodiscard]] static Entrusted<Vector> entrust(const Secret<Vector>& value);
};

}  // namespace starling
