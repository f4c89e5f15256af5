#include <algorithm>
#include <cmath>
#include <limits>

#include "gnuplot.hpp"
#include "history_curves.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

constexpr double far_apart = 3;         ///< ratio of an option's values from which on their axis is logarithmic
constexpr double very_far_apart = 100;  ///< the same of a figure's values
constexpr double margin_of_values = 0.06;
constexpr std::size_t most_in_row = 4;
constexpr double beside = 0.08;  ///< distance of two lines at a word

template <class Member>
std::vector<std::string> distinct(const ComparedMetric& metric, Member member) {
  std::vector<std::string> found;
  for (const ComparedValues& point : metric.points) {
    if (std::ranges::find(found, point.*member) == found.end()) found.push_back(point.*member);
  }
  return found;
}

/// The horizontal axis: numbers, or words in the order in which they come.
HorizontalAxis axis_for(const std::string& option, const ComparedMetric& metric, bool numbers) {
  HorizontalAxis axis{option, false};
  if (numbers) {
    for (const ComparedValues& point : metric.points) {
      if (point.number) axis.marks.emplace_back(*point.number, point.at);
    }
    std::ranges::sort(axis.marks);
    const auto same = [](const auto& a, const auto& b) { return a.second == b.second; };
    axis.marks.erase(std::unique(axis.marks.begin(), axis.marks.end(), same), axis.marks.end());
    const double least = axis.marks.front().first;
    axis.logarithmic = least > 0 && axis.marks.back().first >= far_apart * least;
    return axis;
  }
  for (const std::string& word : distinct(metric, &ComparedValues::at)) {
    axis.marks.emplace_back(static_cast<double>(axis.marks.size()), word);
  }
  return axis;
}

/// What the panels of a figure share.
struct Frame {
  HorizontalAxis axis;
  bool numbers = true;             ///< on the horizontal axis
  bool logarithmic = false;        ///< the vertical axis
  std::vector<std::string> lines;  ///< labels in the order of their colours
  bool key_alone = false;          ///< titles of lines stand apart, below the panels
};

/// The line through numbers, and its band.
void add_line_through(Panel& panel, std::vector<const ComparedValues*> points, const Frame& frame,
                      const std::string& title, std::size_t colour) {
  std::ranges::sort(points, {}, [](const ComparedValues* point) { return *point->number; });
  Curve curve{title, {}, true, colour};
  Band band{"", {}, colour};
  for (const ComparedValues* point : points) {
    const MeanWithBand at = mean_with_band(*point->number, point->values, frame.logarithmic);
    curve.points.emplace_back(*point->number, at.mean);
    band.edges.push_back(at.edge);
  }
  panel.bands.push_back(std::move(band));
  panel.curves.push_back(std::move(curve));
}

/// A point and a bar for each word.
void add_points(Panel& panel, const std::vector<const ComparedValues*>& points, const Frame& frame,
                const std::string& title, std::size_t line) {
  for (const ComparedValues* point : points) {
    const auto mark = std::ranges::find(frame.axis.marks, point->at, &std::pair<double, std::string>::second);
    const double shift = static_cast<double>(line) - (static_cast<double>(frame.lines.size()) - 1) / 2;
    const MeanWithBand at = mean_with_band(mark->first + beside * shift, point->values, frame.logarithmic);
    panel.bands.push_back({"", {at.edge}, line + 1});
    panel.curves.push_back({point == points.front() ? title : "", {{at.edge.x, at.mean}}, true, line + 1});
  }
}

Panel panel_of(const ComparedMetric& metric, const std::string& name, const Frame& frame) {
  Panel panel{name, metric.label, frame.logarithmic, {}, "withheld or unknown"};
  for (std::size_t line = 0; line < frame.lines.size(); ++line) {
    std::vector<const ComparedValues*> points;
    std::vector<const ComparedValues*> across;
    for (const ComparedValues& point : metric.points) {
      if (point.panel != name || point.line != frame.lines[line] || point.values.empty()) continue;
      (frame.numbers && !point.number ? across : points).push_back(&point);
    }
    const std::string title = frame.key_alone ? "" : frame.lines[line];
    if (!points.empty() && frame.numbers) add_line_through(panel, points, frame, title, line + 1);
    if (!points.empty() && !frame.numbers) add_points(panel, points, frame, title, line);
    for (const ComparedValues* point : across) {
      const double mean = mean_with_band(0, point->values, false).mean;
      const auto& marks = frame.axis.marks;
      panel.curves.push_back({title, {{marks.front().first, mean}, {marks.back().first, mean}}, false, line + 1, true});
    }
  }
  return panel;
}

/// One vertical axis for all panels of a figure.
void give_one_range(std::vector<Panel>& panels, bool logarithmic) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto widen = [&](double value) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
    const double at = logarithmic ? std::log10(value) : value;
    low = std::min(low, at);
    high = std::max(high, at);
  };
  for (const Panel& panel : panels) {
    for (const Curve& curve : panel.curves) {
      for (const auto& [x, y] : curve.points) widen(y);
    }
    for (const Band& band : panel.bands) {
      for (const Band::Edge& edge : band.edges) {
        widen(edge.low);
        widen(edge.high);
      }
    }
  }
  if (!(low < high)) return;
  const double margin = margin_of_values * (high - low);
  const auto at = [&](double value) { return logarithmic ? std::pow(10, value) : value; };
  for (Panel& panel : panels) panel.range = {at(low - margin), at(high + margin)};
}

bool is_logarithmic(const ComparedMetric& metric) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const ComparedValues& point : metric.points) {
    for (const double value : point.values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return low > 0 && high >= very_far_apart * low;
}

/// The titles of all lines, without axes.
Panel key_of(const ComparedMetric& metric, const Frame& frame) {
  Panel key;
  key.key_alone = true;
  for (std::size_t line = 0; line < frame.lines.size(); ++line) {
    const bool across = frame.numbers && std::ranges::any_of(metric.points, [&](const ComparedValues& point) {
                          return point.line == frame.lines[line] && !point.number;
                        });
    key.curves.push_back({frame.lines[line], {}, !across, line + 1, across});
  }
  return key;
}

}  // namespace

std::string draw_metrics(const std::string& folder, const std::string& option,
                         const std::vector<ComparedMetric>& metrics, PictureFormats formats) {
  Picture picture{"compare", {}};
  Frame frame;
  frame.numbers =
      std::ranges::any_of(metrics.front().points, [](const ComparedValues& point) { return point.number.has_value(); });
  picture.axis = frame.axis = axis_for(option, metrics.front(), frame.numbers);
  frame.lines = distinct(metrics.front(), &ComparedValues::line);
  const std::vector<std::string> names = distinct(metrics.front(), &ComparedValues::panel);
  frame.key_alone = names.size() > 1 && frame.lines.size() > 1;
  for (const ComparedMetric& metric : metrics) {
    frame.logarithmic = is_logarithmic(metric);
    std::vector<Panel> panels;
    for (const std::string& name : names) panels.push_back(panel_of(metric, name, frame));
    give_one_range(panels, frame.logarithmic);
    picture.panels.insert(picture.panels.end(), panels.begin(), panels.end());
  }
  picture.columns = std::min(names.size(), most_in_row);
  if (frame.key_alone) picture.panels.push_back(key_of(metrics.front(), frame));
  return draw(folder, "compare.gp", {picture}, formats);
}

}  // namespace starling
