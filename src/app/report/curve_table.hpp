/// Some lines of a run's history as a table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "output/directory/history.hpp"
#include "table.hpp"

namespace starling {

/// Number of lines that a report shows of a history.
constexpr std::size_t most_curve_lines = 12;

/// About `most` lines of a history, evenly spread, with the known figures. Rounds with scores on --test are preferred.
/// No head for an empty history.
[[nodiscard]] TextTable curve_of(const std::vector<NetworkFigures>& history, std::size_t most = most_curve_lines);

/// The same as text in columns; empty for an empty history.
[[nodiscard]] std::string curve_table(const std::vector<NetworkFigures>& history, std::size_t most = most_curve_lines);

/// The latest value that is known; NaN if none is.
[[nodiscard]] double latest(const std::vector<NetworkFigures>& history, double NetworkFigures::*figure);

}  // namespace starling
