#include "run_panels.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/record/model_file/saved_model.hpp"

namespace starling {

namespace {

constexpr std::size_t most_components = 6;
/// Up to so many rounds a picture's axis is linear.
constexpr Round few_rounds = 200;

/// As many panels in a row that few places stay empty.
std::size_t panels_in_row_of(std::size_t panels) {
  return panels <= 4 ? std::min<std::size_t>(panels, 2) : panels <= 6 ? 3 : 4;
}

/// A panel of one component, with titles of its curves for a key.
Panel panel_of(const Components& components, std::size_t i, bool with_titles) {
  Panel panel{i < components.names.size() ? components.names[i] : fmt::format("component {}", i + 1),
              "",
              false,
              {},
              "no model is on record"};
  for (std::size_t u = 0; u < components.clients.size(); ++u) {
    Curve curve{with_titles ? fmt::format("client {}", components.clients[u]) : "", {}};
    curve.colour = u + 1;
    for (std::size_t r = 0; r < components.rounds.size(); ++r) {
      curve.points.emplace_back(static_cast<double>(components.rounds[r]),
                                components.values[(r * components.clients.size() + u) * components.count + i]);
    }
    panel.curves.push_back(std::move(curve));
  }
  if (components.comparator.empty() || components.rounds.empty()) return panel;
  Curve best{with_titles ? "best in hindsight" : "", {}};
  best.dashed = true;
  for (const Round t :
       {components.rounds.front(), std::max<Round>(components.rounds.front(), 1), components.rounds.back()}) {
    best.points.emplace_back(static_cast<double>(t), components.comparator[i]);
  }
  panel.curves.push_back(std::move(best));
  return panel;
}

/// Names of a run's first parameters; none where its model has another form, or cannot be read.
std::vector<std::string> parameter_names_of(const std::string& run, std::size_t dimension, std::size_t count) {
  try {
    const SavedModel model = read_model(run + "/" + model_file_name);
    if (model.parameters.size() == dimension) return model.parameter_names(count);
  } catch (const Error&) {  // components are numbered then
  }
  return {};
}

std::string exponent_text(const std::string& kind, const std::optional<GrowthFit>& fit) {
  if (!fit) return "";
  return fmt::format("{} regret ~ t^{:.3f} (standard error {:.2g})", kind, fit->exponent, fit->standard_error);
}

void add_curves(Panel& panel, const RegretCurve& regret, const Vector& sums, const std::optional<GrowthFit>& fit,
                const std::string& kind, std::size_t colour) {
  Curve curve{kind, {}};
  curve.colour = colour;
  Curve line{fit ? fmt::format("{}, fitted: t^{:.3f}", kind, fit->exponent - 1) : "", {}};
  line.dashed = true;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto t = static_cast<double>(regret.rounds[i]);
    if (!std::isnan(sums[i])) curve.points.emplace_back(t, sums[i] / t);
    if (fit && regret.rounds[i] >= fit->from) line.points.emplace_back(t, fit->at(regret.rounds[i]) / t);
  }
  panel.curves.push_back(std::move(curve));
  panel.curves.push_back(std::move(line));
}

}  // namespace

Picture picture_of(const Components& components) {
  Picture picture{"components", {}};
  for (std::size_t i = 0; i < components.count; ++i) picture.panels.push_back(panel_of(components, i, false));
  if (picture.panels.empty()) {
    picture.panels.push_back({"", "", false, {}, "no model is on record"});
  } else {
    picture.panels.push_back(panel_of(components, 0, true));
    picture.panels.back().key_alone = true;
  }
  picture.columns = panels_in_row_of(picture.panels.size());
  picture.axis.logarithmic = components.rounds.empty() || components.rounds.back() > few_rounds;
  return picture;
}

Picture picture_of(const RegretCurve& regret) {
  const std::string fixed = exponent_text("static", regret.fixed_growth);
  const std::string moving = exponent_text("dynamic", regret.moving_growth);
  Panel panel{fixed + (fixed.empty() || moving.empty() ? "" : ", ") + moving,
              "regret per round",
              true,
              {},
              "regret is not positive, or unknown"};
  add_curves(panel, regret, regret.fixed, regret.fixed_growth, "static", 1);
  add_curves(panel, regret, regret.moving, regret.moving_growth, "dynamic", 2);
  return {"regret", {std::move(panel)}};
}

Components components_of(const std::string& run, const RecordedModels& models, View comparator) {
  check<DataError>(comparator.empty() || models.clients.empty() || comparator.size() == models.dimension,
                   "the comparator has {} coordinates and the recorded models {} (summary.json and run.h5 are not of "
                   "one run) restore them",
                   comparator.size(), models.dimension);
  const std::size_t drawn = std::min(models.clients.size(), most_drawn_clients);
  Components components;
  components.clients.assign(models.clients.begin(), models.clients.begin() + static_cast<std::ptrdiff_t>(drawn));
  components.rounds = models.rounds;
  components.count = std::min(models.dimension, most_components);
  components.names = parameter_names_of(run, models.dimension, components.count);
  for (std::size_t r = 0; r < models.rounds.size(); ++r) {
    for (std::size_t u = 0; u < drawn; ++u) {
      const View first = models.at(r, u).first(components.count);
      components.values.insert(components.values.end(), first.begin(), first.end());
    }
  }
  if (!comparator.empty()) {
    components.comparator.assign(comparator.begin(),
                                 comparator.begin() + static_cast<std::ptrdiff_t>(components.count));
  }
  return components;
}

}  // namespace starling
