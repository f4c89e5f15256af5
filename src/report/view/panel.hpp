/// Panels of pictures: curves, bands or boxes in one coordinate system.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace starling {

/// A curve and how it is drawn.
struct Curve {
  std::string title;  ///< in the key; empty: none
  std::vector<std::pair<double, double>>
      points;              ///< usually (round, value); points that an axis cannot show are left out
  bool dotted = false;     ///< marks each point
  std::size_t colour = 0;  ///< number of a colour; 0: another one than the neighbours'
  bool dashed = false;     ///< a black reference line
};

/// A box of a raster, coloured by its value from 0 (dark) to 1. A box without a value is left out.
struct Box {
  double left = 0;
  double right = 0;
  double low = 0;
  double high = 0;
  double value = 0;
};

/// The area between two curves, or a bar where there is one edge.
struct Band {
  struct Edge {
    double x = 0;
    double low = 0;
    double high = 0;
  };
  std::string title;
  std::vector<Edge> edges;
  std::size_t colour = 1;  ///< number of a colour
  bool filled = true;      ///< false: only the two edges are drawn
};

/// One coordinate system of a picture.
struct Panel {
  std::string title;         ///< above the panel
  std::string label;         ///< of the vertical axis
  bool logarithmic = false;  ///< the vertical axis
  std::vector<Curve> curves;
  std::string otherwise;                                ///< text shown if there is nothing to draw
  std::vector<Box> boxes = {};                          ///< instead of curves
  std::vector<Band> bands = {};                         ///< behind the curves
  std::optional<std::pair<double, double>> range = {};  ///< of the vertical axis; none: all values
  /// The boxes are entries of a matrix with values from 0: a square, in colours from white to blue.
  bool matrix = false;
  bool key_alone = false;  ///< shows the titles of curves and bands, without axes
};

}  // namespace starling
