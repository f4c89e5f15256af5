/// Special values of double.
#pragma once

#include <limits>

namespace starling {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// NaN, for a figure that is unknown or withheld.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// The least positive number of full precision.
inline constexpr double tiny = std::numeric_limits<double>::min();

}  // namespace starling
