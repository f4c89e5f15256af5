#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "gnuplot.hpp"
#include "output/intervals/interval.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

constexpr std::size_t most_panels = 12;
constexpr double shown_whole = 2.0 / 3;  ///< of the horizontal axis, from its right end
constexpr double span = 1000;            ///< of the horizontal axis: its last three decades
constexpr double margin = 0.05;          ///< of the vertical axis at either end

/// Intervals of one coefficient by one method at one level.
struct Course {
  std::string method;
  double level = 0;
  std::vector<Band::Edge> edges;
};

/// All of one coefficient.
struct Coefficient {
  std::string name;
  Curve estimate;
  std::vector<Course> courses;
};

Course& course_of(Coefficient& coefficient, const Interval& interval) {
  auto& all = coefficient.courses;
  const auto found = std::ranges::find_if(
      all, [&](const Course& course) { return course.method == interval.method && course.level == interval.level; });
  return found != all.end() ? *found : all.emplace_back(Course{interval.method, interval.level, {}});
}

/// Whether there is anything between two moments.
bool can_be_drawn(const Course& course) {
  const auto known = std::ranges::count_if(
      course.edges, [](const Band::Edge& edge) { return std::isfinite(edge.low) && std::isfinite(edge.high); });
  return known > 1;
}

/// Within a method and level a coefficient is told by its place: names need not differ.
std::vector<Coefficient> coefficients_of(const std::vector<IntervalsAt>& path, std::optional<Client> client) {
  std::vector<Coefficient> coefficients;
  for (const IntervalsAt& at : path) {
    std::map<std::pair<std::string, double>, std::size_t> places;
    for (const Interval& each : at.intervals) {
      if (each.client != client || at.records < 1) continue;
      const std::size_t place = places[{each.method, each.level}]++;
      if (place >= most_panels) continue;
      if (place == coefficients.size()) coefficients.push_back({each.name, {"estimate", {}}, {}});
      Coefficient& own = coefficients[place];
      auto& points = own.estimate.points;
      if (points.empty() || points.back().first != at.records) points.emplace_back(at.records, each.estimate);
      course_of(own, each).edges.push_back({at.records, each.low, each.high});
    }
  }
  return coefficients;
}

/// Takes the finite ones of some values into a range.
void widen(std::pair<double, double>& range, std::initializer_list<double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range = {std::min(range.first, value), std::max(range.second, value)};
  }
}

/// Early intervals may be hundreds of times as wide as late ones: what is drawn from `from` on is seen whole.
std::optional<std::pair<double, double>> range_of(const Coefficient& coefficient, double from) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::pair<double, double> range{inf, -inf};
  for (const auto& [x, y] : coefficient.estimate.points) {
    if (x >= from) widen(range, {y});
  }
  for (const Course& course : coefficient.courses) {
    for (const Band::Edge& edge : course.edges) {
      if (edge.x >= from) widen(range, {edge.low, edge.high});
    }
  }
  const double extent = range.second - range.first;
  if (!(extent > 0) || !std::isfinite(extent)) return std::nullopt;
  return std::pair(range.first - margin * extent, range.second + margin * extent);
}

/// The least value of the horizontal axis from which all is seen. Points on it are included, despite rounding.
double from_which_all_is_seen(double from, double to) {
  return (1 - 1e-9) * to * std::pow(from / to, shown_whole);
}

Panel panel_of(const Coefficient& coefficient, double from, double to, bool with_key) {
  Panel panel{coefficient.name, "estimate", false, {}, "no estimate is known"};
  std::size_t colour = 0;
  for (const Course& course : coefficient.courses) {
    if (!can_be_drawn(course)) continue;
    const std::string title = with_key ? fmt::format("{}, {:.4g} %", course.method, 100 * course.level) : "";
    panel.bands.push_back({title, course.edges, colour + 1, colour == 0});
    ++colour;
  }
  panel.range = range_of(coefficient, from_which_all_is_seen(from, to));
  if (panel.range && panel.range->first < 0 && panel.range->second > 0) {
    Curve zero{"", {{from, 0}, {to, 0}}};
    zero.dashed = true;
    panel.curves.push_back(std::move(zero));
  }
  panel.curves.push_back(coefficient.estimate);
  Curve& estimate = panel.curves.back();
  estimate.colour = 1;
  if (!with_key) estimate.title = "";
  return panel;
}

}  // namespace

std::string draw_intervals(const std::string& folder, const std::vector<IntervalsAt>& path, PictureFormats formats) {
  const auto first =
      std::ranges::find_if(path, [](const IntervalsAt& at) { return !at.intervals.empty() && at.records >= 1; });
  if (first == path.end()) return "";
  const std::optional<Client> client = first->intervals.front().client;
  const double to = std::max(path.back().records, first->records);
  const double from = std::max(first->records, to / span);
  Picture picture{"intervals", {}, {"records", true, from}};
  const std::vector<Coefficient> coefficients = coefficients_of(path, client);
  const bool alone = coefficients.size() == 1;
  for (const Coefficient& each : coefficients) picture.panels.push_back(panel_of(each, from, to, alone));
  if (client) picture.panels.front().title += fmt::format(" (client {})", *client);
  if (!alone) {
    picture.panels.push_back(panel_of(coefficients.front(), from, to, true));
    picture.panels.back().key_alone = true;
  }
  picture.columns = alone ? 1 : picture.panels.size() <= 4 ? 2 : 3;
  return draw(folder, "intervals.gp", {picture}, formats);
}

}  // namespace starling
