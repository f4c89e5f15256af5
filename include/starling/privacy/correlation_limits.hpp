/// Sizes for which correlated noise is proved (src/privacy/mechanism/correlated_gaussian.hpp).
#pragma once

#include <cstddef>

#include "starling/core/links.hpp"

namespace starling {

struct CorrelationLimits {
  static constexpr std::size_t batch = std::size_t{1} << 21;  ///< most records of a sum, whose integers are below 2^61
  static constexpr Round rounds = Round{1} << 28;             ///< most rounds of a chain
};

}  // namespace starling
