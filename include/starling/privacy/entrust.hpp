/// Values without noise for a trusted aggregator: only for `--trust central` and `private-paper`, whose privacy
/// statements say so.
#pragma once

#include "starling/privacy/mechanism.hpp"

namespace starling {

class TrustedAggregator : protected Release {
 public:
  /// The value, for the interface to the aggregator.
  [[nodiscard]] static Entrusted<Vector> entrust(const Secret<Vector>& value);
};

}  // namespace starling
