/// The picture of estimates on their way, with their intervals.
#pragma once

#include <string>
#include <vector>

#include "starling/record/intervals/interval.hpp"
#include "starling/report/pictures/picture_formats.hpp"

namespace starling {

/// Draws intervals.svg (or .png, .pdf) into the folder, in each format: estimates against the records that they rest
/// on, with a band for each method and level, the first filled and the others as lines; a panel for each of the first
/// twelve coefficients, as in Figure 2 of Xie, Shi, Jiang, Kong and He. Of clients who have their own, the first one's.
/// The axis has at most three decades, up to the last record; a panel shows what lies in its last two thirds whole, and
/// of the rest what fits. Nothing is drawn of an empty path. Returns a sentence saying why not, if gnuplot is missing
/// or fails, else an empty string.
[[nodiscard]] std::string draw_intervals(const std::string& folder, const std::vector<IntervalsAt>& path,
                                         PictureFormats formats);

}  // namespace starling
