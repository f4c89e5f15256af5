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
std::map<double, Vector> common_values(const ComparedRuns& runs, const PanelKind& kind) {
  std::map<double, Vector> values;
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
  Band band{"", {}, colour};
  for (const auto& [round, values] : common_values(runs, kind)) {
    const MeanWithBand at = mean_with_band(round, values, kind.logarithmic);
    curve.points.emplace_back(round, at.mean);
    if (!kind.logarithmic || at.edge.low > 0) band.edges.push_back(at.edge);
  }
  if (runs.histories.size() > 1) panel.bands.push_back(std::move(band));
  panel.curves.push_back(std::move(curve));
}

bool is_known(const std::vector<ComparedRuns>& lines, const PanelKind& kind) {
  return std::ranges::any_of(lines, [&](const ComparedRuns& runs) {
    return std::ranges::any_of(runs.histories,
                               [&](const auto& history) { return !curve_of_kind(history, kind).points.empty(); });
  });
}

}  // namespace

std::string draw_courses(const std::string& folder, const std::vector<ComparedRuns>& lines, PictureFormats formats) {
  Picture picture{"compare", {}};
  for (const PanelKind& kind : kinds) {
    if (!is_known(lines, kind)) continue;
    Panel panel{"", kind.label, kind.logarithmic, {}, kind.logarithmic ? "nothing above 0" : "unknown"};
    for (std::size_t i = 0; i < lines.size(); ++i) add_line(panel, lines[i], kind, i + 1);
    picture.panels.push_back(std::move(panel));
  }
  if (picture.panels.empty()) return "no pictures: no figure of these runs is known at any round";
  return draw(folder, "compare.gp", {picture}, formats);
}

}  // namespace starling
