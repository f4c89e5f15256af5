/// Pictures drawn by gnuplot: panels in rows, over one horizontal axis.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/pictures/pictures.hpp"
#include "report/view/panel.hpp"

namespace starling {

/// The horizontal axis of all panels of a picture.
struct HorizontalAxis {
  std::string label = "round";
  bool logarithmic = true;
  double from = 1;  ///< least value of a logarithmic axis
  /// Marks with their texts, ascending: the axis ends shortly beyond the first and the last. Empty: marks of gnuplot.
  std::vector<std::pair<double, std::string>> marks = {};
};

/// A picture file.
struct Picture {
  std::string name;  ///< of the file, without its ending
  std::vector<Panel> panels;
  HorizontalAxis axis = {};
  std::size_t columns = 1;  ///< panels in a row
};

/// Draws the pictures into a folder and leaves the script that draws them again. Each picture file appears whole or not
/// at all. Returns a sentence that says why pictures are missing, or an empty string.
[[nodiscard]] std::string draw(const std::string& folder, const std::string& script_name,
                               const std::vector<Picture>& pictures, PictureFormats formats);

}  // namespace starling
