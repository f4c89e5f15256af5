/// Spreads of figures over clients: the numbers that are kept where clients are very many.
#pragma once

#include <array>
#include <cstddef>

#include "core/columns.hpp"

namespace starling {

/// count, mean, least, lower quartile, median, upper quartile, most.
constexpr std::size_t numbers_of_a_spread = 7;
using ClientSpread = std::array<double, numbers_of_a_spread>;
/// Names of the numbers in files, in their order.
constexpr const char* names_of_a_spread = "count, mean, least, lower, median, upper, most";

/// The spread of all values but those that are NaN, which are not counted. Quartiles lie between values as R's type 7
/// and NumPy's default have them. All but the count are NaN where there is no value.
[[nodiscard]] ClientSpread spread_of(Vector values);

}  // namespace starling
