#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gnuplot.hpp"
#include "history_curves.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

/// A figure that has a panel of its own.
struct PanelKind {
  const char* label;
  Figure figure;
  double factor = 1;
  bool progressive = false;  ///< drawn as its mean so far
  bool logarithmic = false;
};

constexpr std::array<PanelKind, 5> kinds{
    {{"loss, progressive: mean so far", &NetworkFigures::loss, 1, true},
     {"loss on the test set", &NetworkFigures::test_loss},
     {"accuracy in %, progressive: mean so far", &NetworkFigures::accuracy, 100, true},
     {"accuracy in % on the test set", &NetworkFigures::test_accuracy, 100},
     {"consensus error", &NetworkFigures::consensus_error, 1, false, true}}};

Curve curve_of_kind(const std::vector<NetworkFigures>& history, const PanelKind& kind) {
  return kind.progressive ? mean_so_far(history, kind.figure, "", kind.factor)
                          : curve_of(history, kind.figure, "", kind.factor);
}

/// The values of all runs at each round that all of them have.
std::map<double, std::vector<double>> common_values(const ComparedRuns& runs, const PanelKind& kind) {
  std::map<double, std::vector<double>> values;
  for (const auto& history : runs.histories) {
    for (const auto& [round, value] : curve_of_kind(one_line_each(history), kind).points) {
      values[round].push_back(value);
    }
  }
  std::erase_if(values, [&](const auto& entry) { return entry.second.size() != runs.histories.size(); });
  return values;
}

/// Adds the mean of the runs, and the band around it.
void add_line(Panel& panel, const ComparedRuns& runs, const PanelKind& kind, std::size_t colour) {
  Curve curve{runs.label, {}};
  curve.colour = colour;
  Band band;
  band.colour = colour;
  for (const auto& [round, values] : common_values(runs, kind)) {
    const auto count = static_cast<double>(values.size());
    double mean = 0;
    double squares = 0;
    for (const double value : values) mean += value / count;
    for (const double value : values) squares += (value - mean) * (value - mean);
    curve.points.emplace_back(round, mean);
    if (values.size() < 2) continue;
    const double deviation = std::sqrt(squares / (count - 1));
    const auto [low, high] = std::ranges::minmax_element(values);
    const bool two = values.size() == 2;
    const double bottom = two ? *low : mean - deviation;
    // A logarithmic axis cannot show a bound that is not positive; the band ends at the lowest value then.
    const double shown_bottom = kind.logarithmic && bottom <= 0 ? *low : bottom;
    if (kind.logarithmic && shown_bottom <= 0) continue;
    band.edges.push_back({round, shown_bottom, two ? *high : mean + deviation});
  }
  if (!band.edges.empty()) panel.bands.push_back(std::move(band));
  panel.curves.push_back(std::move(curve));
}

bool is_known(const std::vector<ComparedRuns>& lines, const PanelKind& kind) {
  return std::ranges::any_of(lines, [&](const ComparedRuns& runs) {
    return std::ranges::any_of(runs.histories,
                               [&](const auto& history) { return !curve_of_kind(history, kind).points.empty(); });
  });
}

template <class Member>
std::vector<std::string> distinct(const std::vector<ComparedRuns>& lines, Member member) {
  std::vector<std::string> found;
  for (const ComparedRuns& runs : lines) {
    if (std::ranges::find(found, runs.*member) == found.end()) found.push_back(runs.*member);
  }
  return found;
}

std::size_t colour_of(const std::vector<std::string>& labels, const std::string& label) {
  return 1 + static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
}

/// A panel with the titles of all lines and no axes.
Panel key_of(const std::vector<std::string>& labels) {
  Panel key;
  key.key_alone = true;
  for (const std::string& label : labels) {
    Curve curve{label, {}};
    curve.colour = colour_of(labels, label);
    key.curves.push_back(std::move(curve));
  }
  return key;
}

/// A row of panels for each facet, with the key below.
std::vector<Panel> small_multiples(const std::vector<ComparedRuns>& lines, const std::vector<PanelKind>& known) {
  const std::vector<std::string> labels = distinct(lines, &ComparedRuns::label);
  std::vector<Panel> panels;
  for (const std::string& facet : distinct(lines, &ComparedRuns::facet)) {
    for (const PanelKind& kind : known) {
      Panel panel{facet, kind.label, kind.logarithmic, {}, kind.logarithmic ? "nothing above 0" : "unknown"};
      for (const ComparedRuns& runs : lines) {
        if (runs.facet == facet) add_line(panel, runs, kind, colour_of(labels, runs.label));
      }
      for (Curve& curve : panel.curves) curve.title.clear();
      panels.push_back(std::move(panel));
    }
  }
  panels.push_back(key_of(labels));
  return panels;
}

/// All lines in common panels, one below the other.
std::vector<Panel> together(std::vector<ComparedRuns> lines, const std::vector<PanelKind>& known) {
  for (ComparedRuns& runs : lines) {
    if (!runs.facet.empty()) runs.label = runs.facet + (runs.label.empty() ? "" : ", " + runs.label);
  }
  std::vector<Panel> panels;
  for (const PanelKind& kind : known) {
    Panel panel{"", kind.label, kind.logarithmic, {}, kind.logarithmic ? "nothing above 0" : "unknown"};
    for (std::size_t i = 0; i < lines.size(); ++i) add_line(panel, lines[i], kind, i + 1);
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace

std::string draw_comparison(const std::string& folder, const std::vector<ComparedRuns>& lines, PictureFormats formats) {
  std::vector<PanelKind> known;
  for (const PanelKind& kind : kinds) {
    if (is_known(lines, kind)) known.push_back(kind);
  }
  if (known.empty()) return "no pictures: no figure of these runs is known at any round";
  Picture picture{"compare", {}};
  if (lines.size() > most_lines_together) {
    picture.panels = small_multiples(lines, known);
    picture.columns = known.size();
  } else {
    picture.panels = together(lines, known);
  }
  return draw(folder, "compare.gp", {picture}, formats);
}

}  // namespace starling
