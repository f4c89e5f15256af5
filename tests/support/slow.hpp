/// What the default tests leave out.
#pragma once

#include <cstdlib>

namespace starling::testing_support {

/// Whether checks run that take long beside what they find (tests/run.sh --long, starling_add_test(… SLOW)).
inline bool slow() {
  return std::getenv("STARLING_SLOW") != nullptr;
}

}  // namespace starling::testing_support
