#include <cmath>

#include "gnuplot.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

std::string draw_survival(const std::string& folder, const std::string& person,
                          const std::vector<SurvivalPoint>& points, PictureFormats formats) {
  Panel panel{"survival of " + person, "probability of no event", false, {}, "there is no interval"};
  Curve curve{"", {{0, 1}}, true, 1};
  Band band{"95 % at each time", {{0, 1, 1}}, 1, true};
  for (const SurvivalPoint& each : points) {
    curve.points.emplace_back(each.time, each.survival);
    if (!std::isnan(each.low)) band.edges.push_back({each.time, each.low, each.high});
  }
  panel.curves = {curve};
  if (band.edges.size() > 1) panel.bands = {band};
  panel.range = std::pair(0.0, 1.0);
  return draw(folder, "survival.gp", {{"survival", {panel}, {"time", false, 0}}}, formats);
}

}  // namespace starling
