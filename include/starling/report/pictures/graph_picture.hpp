/// Graphs of many clients as matrix pictures.
#pragma once

#include <string>

#include "starling/graph/analysis/analysis.hpp"
#include "starling/report/pictures/picture_formats.hpp"

namespace starling {

/// Draws FOLDER/graph.svg (or .png, .pdf): a panel for each of the first six phases, with senders from top to bottom
/// and receivers from left to right. The colour is the mean weight that a sender of the row gives the column. Cells
/// join neighbouring clients where there are more than 200. Returns a sentence saying why there is no picture, else an
/// empty string.
[[nodiscard]] std::string draw_graph(const std::string& folder, const GraphSample& sample, PictureFormats formats);

}  // namespace starling
