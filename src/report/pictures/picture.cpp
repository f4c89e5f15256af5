#include "report/pictures/picture.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "files/text_files.hpp"
#include "gnuplot.hpp"
#include "history_curves.hpp"
#include "output/model_file/saved_model.hpp"

namespace starling {

namespace {

/// Clients of a run of whom a picture shows curves.
constexpr std::size_t most_drawn_clients = 10;
constexpr double least_step = 1.1;  ///< between the rounds of two points of a progressive curve, as a factor

/// A progressive figure over spans of rounds. A line that comes shortly after the one before tells of few records, so
/// its rounds count to the next point, or to the last.
Curve spans_of(const std::vector<NetworkFigures>& history, Figure figure, const std::string& title, double factor) {
  Curve curve{title, {}};
  Tally before;
  Tally span;
  double drawn = 0;
  for (std::size_t i = 1; i < history.size(); ++i) {
    const auto done = static_cast<double>(history[i].done);
    if (std::isnan(history[i].*figure)) continue;
    const double rounds = done - static_cast<double>(history[i - 1].done);
    span.total += factor * rounds * (history[i].*figure);
    span.rounds += rounds;
    const bool last = i + 1 == history.size();
    if (done < least_step * drawn && !last) continue;
    if (done < least_step * drawn) {
      span = {span.total + before.total, span.rounds + before.rounds};
      curve.points.pop_back();
    }
    curve.points.emplace_back(done, span.mean());
    drawn = done;
    before = std::exchange(span, {});
  }
  return curve;
}

/// Adds a progressive figure: its course, and its mean so far.
void add_progressive(Panel& panel, const std::vector<NetworkFigures>& history, Figure figure, double factor) {
  panel.curves.push_back(spans_of(history, figure, "progressive, since the point before", factor));
  panel.curves.push_back(mean_so_far(history, figure, "progressive, mean so far", factor));
}

/// Losses, accuracies and consensus error.
std::vector<Panel> panels_of(const std::vector<NetworkFigures>& history) {
  Panel losses{"", "loss per record", false, {}, ""};
  Panel accuracies{"", "accuracy in %", false, {}, ""};
  Panel consensus{"", "consensus error", true, {}, ""};
  add_progressive(losses, history, &NetworkFigures::loss, 1);
  losses.curves.push_back(curve_of(history, &NetworkFigures::test_loss, "on the test set"));
  add_progressive(accuracies, history, &NetworkFigures::accuracy, 100);
  accuracies.curves.push_back(curve_of(history, &NetworkFigures::test_accuracy, "on the test set", 100));
  consensus.curves.push_back(
      curve_of(history, &NetworkFigures::consensus_error, "mean squared distance to the mean model"));
  return {std::move(losses), std::move(accuracies), std::move(consensus)};
}

Panel panel_of(const Convergence& convergence) {
  Panel panel{"Models' distance to " + convergence.target, "distance", true, {}, ""};
  for (std::size_t u = 0; u < convergence.clients.size(); ++u) {
    Curve curve{fmt::format("client {}", convergence.clients[u]), {}};
    for (std::size_t r = 0; r < convergence.rounds.size(); ++r) {
      curve.points.emplace_back(static_cast<double>(convergence.rounds[r]), convergence.distances[r][u]);
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

/// Whether a panel has something to show after the first round.
bool shows_course(const Panel& panel) {
  if (!panel.boxes.empty() || !panel.bands.empty()) return true;
  return std::ranges::any_of(panel.curves, [&panel](const Curve& curve) {
    return std::ranges::any_of(curve.points, [&panel](const std::pair<double, double>& point) {
      return point.first >= 1 && std::isfinite(point.second) && (!panel.logarithmic || point.second > 0);
    });
  });
}

constexpr std::size_t most_components = 6;
/// Up to so many rounds a picture's axis is linear.
constexpr Round few_rounds = 200;

/// Number of panels in a row that leaves few places empty.
std::size_t panels_in_row_of(std::size_t panels) {
  return panels <= 4 ? std::min<std::size_t>(panels, 2) : panels <= 6 ? 3 : 4;
}

/// A panel of one component, with titles of its curves for a key.
Panel panel_of(const Components& components, std::size_t i, bool with_titles) {
  Panel panel{
      i < components.names.size() ? components.names[i] : fmt::format("component {}", i + 1), "", false, {}, ""};
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

/// Whether a model on record differs from the one before.
bool any_moves(const Components& components) {
  const std::size_t round = components.clients.size() * components.count;
  for (std::size_t i = round; i < components.values.size(); ++i)
    if (components.values[i] != components.values[i - round]) return true;
  return false;
}

/// One panel per component, and one of the key; no panel where models do not move.
Picture picture_of(const Components& components) {
  Picture picture{"components", {}};
  if (!any_moves(components)) return picture;
  for (std::size_t i = 0; i < components.count; ++i) picture.panels.push_back(panel_of(components, i, false));
  picture.panels.push_back(panel_of(components, 0, true));
  picture.panels.back().key_alone = true;
  picture.columns = panels_in_row_of(picture.panels.size());
  picture.axis.logarithmic = components.rounds.empty() || components.rounds.back() > few_rounds;
  return picture;
}

/// Regret divided by rounds, static and dynamic, log-log, with the lines of their fits.
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

}  // namespace

Convergence convergence_to(const RecordedModels& models, View target, const std::string& target_name) {
  const std::size_t drawn = std::min(models.clients.size(), most_drawn_clients);
  check<DataError>(drawn == 0 || models.dimension == target.size(),
                   "the final model has {} coordinates and the recorded ones {}: summary.json and run.h5 are not of "
                   "one run. Restore them.",
                   target.size(), models.dimension);
  Convergence convergence{
      target_name, {models.clients.begin(), models.clients.begin() + static_cast<long>(drawn)}, models.rounds, {}};
  for (std::size_t r = 0; r < models.rounds.size(); ++r) {
    Vector distances;
    for (std::size_t u = 0; u < drawn; ++u) distances.push_back(std::sqrt(squared_distance(models.at(r, u), target)));
    convergence.distances.push_back(std::move(distances));
  }
  return convergence;
}

Convergence convergence_so_far(const RecordedModels& models) {
  Vector mean(models.dimension, 0.0);
  if (models.rounds.empty() || models.clients.empty()) return convergence_to(models, mean, "the mean model");
  const std::size_t last = models.rounds.size() - 1;
  for (std::size_t u = 0; u < models.clients.size(); ++u) axpy(1, models.at(last, u), mean);
  scale(1 / static_cast<double>(models.clients.size()), mean);
  return convergence_to(models, mean, fmt::format("the mean model of round {}", models.rounds[last]));
}

Components components_of(const std::string& run, const RecordedModels& models, View comparator) {
  check<DataError>(comparator.empty() || models.clients.empty() || comparator.size() == models.dimension,
                   "the comparator has {} coordinates and the recorded models {}: summary.json and run.h5 are not of "
                   "one run. Restore them.",
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

void write_convergence(const std::string& folder, const Convergence& convergence) {
  std::string text = "rounds";
  for (const Client u : convergence.clients) text += fmt::format(",client {}", u);
  text += "\n";
  for (std::size_t r = 0; r < convergence.rounds.size(); ++r) {
    text += fmt::format("{}", convergence.rounds[r]);
    for (const double distance : convergence.distances[r]) text += "," + csv_field(distance);
    text += "\n";
  }
  write_text(folder + "/convergence.csv", text);
}

std::string draw_pictures(const std::string& folder, const RunCurves& curves, PictureFormats formats) {
  std::vector<Picture> pictures{{"loss", panels_of(one_line_each(curves.history))},
                                {"convergence", {panel_of(curves.convergence)}},
                                picture_of(curves.components)};
  if (curves.regret) pictures.push_back(picture_of(*curves.regret));
  pictures.push_back({"figures", curves.figures});
  for (Picture& each : pictures) std::erase_if(each.panels, [](const Panel& panel) { return !shows_course(panel); });
  std::erase_if(pictures, [](const Picture& each) { return each.panels.empty(); });
  if (pictures.empty()) return "";
  return draw(folder, "pictures.gp", pictures, formats);
}

}  // namespace starling
