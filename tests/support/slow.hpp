/// What the default tests leave out.
#pragma once

#include <cstdlib>

namespace starling::testing_support {

/// Whether checks run that take long beside what they find (tests/run.sh --long, starling_add_test(… SLOW)).
inline bool slow() {
  return std::getenv("STARLING_SLOW") != nullptr;
}

/// Whether sanitizers watch the modules: statistics of many samples then take long and see no memory that few do not.
inline bool sanitized() {
  return std::getenv("STARLING_SANITIZED") != nullptr;
}

}  // namespace starling::testing_support
