/// Data sets that files of ranks and run.h5 have alike.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "output/recorded.hpp"
#include "output/scores.hpp"

namespace starling {

/// Figures of a record whose spread over clients is kept.
constexpr std::size_t spread_figures = 5;

/// Data sets of progressive scores, with what they mean.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> score_sets(Scores scores, Figures figures);

}  // namespace starling
