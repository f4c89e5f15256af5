#include "starling/privacy/entrust.hpp"

namespace starling {

Entrusted<Vector> TrustedAggregator::entrust(const Secret<Vector>& value) {
  return hand_over(value);
}

}  // namespace starling
