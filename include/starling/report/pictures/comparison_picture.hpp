/// The picture of several runs on common axes.
#pragma once

#include <string>
#include <vector>

#include "starling/record/directory/history.hpp"
#include "starling/report/pictures/picture_formats.hpp"

namespace starling {

/// Runs that share one line: they differ by their seeds alone.
struct ComparedRuns {
  std::string facet;  ///< value of the setting that has a row of panels for each of its values
  std::string label;  ///< of the line in its row; equal labels have one colour
  std::vector<std::vector<NetworkFigures>> histories;
};

/// Up to so many lines share their panels; more of them are drawn as small multiples, a row of panels for each facet.
constexpr std::size_t most_lines_together = 8;

/// Draws compare.svg (or .png, .pdf): losses, accuracies and consensus errors, as far as they are known. The line of
/// several runs is their mean at the rounds that all of them have. A band around it is mean ± standard deviation; of
/// two runs, from the lower to the higher. Returns a sentence that says why pictures are missing, or an empty string.
[[nodiscard]] std::string draw_comparison(const std::string& folder, const std::vector<ComparedRuns>& lines,
                                          PictureFormats formats);

}  // namespace starling
