#include "history_curves.hpp"

#include <algorithm>
#include <cmath>

namespace starling {

Curve curve_of(const std::vector<NetworkFigures>& history, Figure figure, const std::string& title, double factor) {
  Curve curve{title, {}};
  for (const NetworkFigures& line : history) {
    if (!std::isnan(line.*figure)) curve.points.emplace_back(static_cast<double>(line.done), factor * (line.*figure));
  }
  // Test scores are taken on some rounds only; their points are seen as such.
  curve.dotted = figure == &NetworkFigures::test_loss || figure == &NetworkFigures::test_accuracy;
  return curve;
}

Curve mean_so_far(const std::vector<NetworkFigures>& history, Figure figure, const std::string& title, double factor) {
  Curve curve{title, {}};
  Tally all;
  for (std::size_t i = 1; i < history.size(); ++i) {
    if (std::isnan(history[i].*figure)) continue;
    const auto rounds = static_cast<double>(history[i].done - history[i - 1].done);
    all.total += factor * rounds * (history[i].*figure);
    all.rounds += rounds;
    curve.points.emplace_back(static_cast<double>(history[i].done), all.mean());
  }
  return curve;
}

MeanWithBand mean_with_band(double x, const Vector& values, bool logarithmic) {
  const auto count = static_cast<double>(values.size());
  const auto [low, high] = std::ranges::minmax(values);
  if (values.size() == 1) return {low, {x, std::nan(""), std::nan("")}};
  MeanWithBand result{0, {x, low, high}};
  for (const double value : values) result.mean += value / count;
  if (values.size() == 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double deviation = std::sqrt(squares / (count - 1));
  if (!logarithmic || result.mean > deviation) result.edge.low = result.mean - deviation;
  result.edge.high = result.mean + deviation;
  return result;
}

}  // namespace starling
