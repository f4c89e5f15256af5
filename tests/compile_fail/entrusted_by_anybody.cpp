// Un-noised values are entrusted by the privacy room alone, and read by nobody but the door.
// Expected: value_.*private
#include "starling/core/boundary.hpp"

#ifdef STARLING_MUST_FAIL
double first(const starling::Entrusted<starling::Vector>& own) {
  return own.value_[0];
}
starling::Entrusted<starling::Vector> made() {
  return {starling::ReleaseKey(), starling::Vector{1}};
}
#else
double first(const starling::Released<starling::Vector>& own) {
  return own.value()[0];
}
#endif
