#include "gnuplot.hpp"
#include "privacy/statement/odds.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

std::string draw_odds(const std::string& folder, double epsilon) {
  constexpr int steps = 100;
  Panel panel{"", "certainty afterwards in %", false, {}, ""};
  Band band{"possible after everything was seen", {}};
  Curve none{"nothing learned", {{0, 0}, {steps, steps}}};
  none.dashed = true;
  for (int i = 0; i <= steps; ++i) {
    const double before = static_cast<double>(i) / steps;
    band.edges.push_back({100 * before, 100 * most_certain(before, -epsilon), 100 * most_certain(before, epsilon)});
  }
  const double most = 100 * most_certain(0.5, epsilon);
  Curve example{"from 50 % to at most " + percent_text(most / 100), {{50, 50}, {50, most}}, true, 2};
  panel.bands = {band};
  panel.curves = {none, example};
  panel.range = std::pair(0.0, 100.0);
  return draw(folder, "odds.gp", {{"odds", {panel}, {"certainty beforehand in %", false}}}, {});
}

}  // namespace starling
