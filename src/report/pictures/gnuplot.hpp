/// Pictures by gnuplot: curves over rounds or another quantity, in panels one above the other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace starling {

struct Curve {
  std::string title;
  std::vector<std::pair<double, double>> points;  ///< (round, value), say; what an axis cannot show is left out
  bool dotted = false;                            ///< few points, marked
  std::size_t colour = 0;                         ///< number of a colour; 0 for another one than its neighbours'
  bool dashed = false;                            ///< a reference, black
};

/// A box of a raster, coloured by its value from 0 (dark) to 1; without a value it is left out.
struct Box {
  double left = 0;
  double right = 0;
  double low = 0;
  double high = 0;
  double value = 0;
};

/// What lies between two curves.
struct Band {
  struct Edge {
    double x = 0;
    double low = 0;
    double high = 0;
  };
  std::string title;
  std::vector<Edge> edges;
  std::size_t colour = 1;  ///< number of a colour
  bool filled = true;      ///< else its two edges alone are drawn
};

struct Panel {
  std::string title;  ///< above it
  std::string label;  ///< of the vertical axis
  bool logarithmic = false;
  std::vector<Curve> curves;
  std::string otherwise;                                ///< what is said if there is nothing to draw
  std::vector<Box> boxes = {};                          ///< instead of curves
  std::vector<Band> bands = {};                         ///< behind the curves
  std::optional<std::pair<double, double>> range = {};  ///< of the vertical axis; by default all that is drawn
  bool key_alone = false;                               ///< of curves and bands the titles, and no axes
};

/// What the curves of a picture go over.
struct HorizontalAxis {
  std::string label = "round";
  bool logarithmic = true;  ///< from 1 on
  double from = 1;          ///< of a logarithmic one: where it begins, at least 1
};

/// Its panels, in rows, have one horizontal axis.
struct Picture {
  std::string name;  ///< of the file, without ending
  std::vector<Panel> panels;
  HorizontalAxis axis = {};
  std::size_t columns = 1;  ///< panels in a row
};

/// SVG alone, or PNG besides.
enum class PictureFormats { svg, svg_and_png };

/// Draws the pictures into a folder, and leaves there the script that draws them again. They are drawn beside and moved
/// in whole. Returns a sentence that says why there are none, else an empty string.
[[nodiscard]] std::string draw(const std::string& folder, const std::string& script_name,
                               const std::vector<Picture>& pictures, PictureFormats formats);

}  // namespace starling
