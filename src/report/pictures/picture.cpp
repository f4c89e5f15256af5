#include "starling/report/pictures/picture.hpp"

#include "gnuplot.hpp"
#include "history_curves.hpp"
#include "run_panels.hpp"
#include <algorithm>
#include <cmath>

#include "starling/core/check.hpp"
#include "starling/core/numerics/kernels.hpp"
#include "starling/files/text_files.hpp"
#include "starling/hdf5/file.hpp"

namespace starling {

namespace {

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

/// Losses, accuracies if there are any, and consensus error.
std::vector<Panel> panels_of(const std::vector<NetworkFigures>& history) {
  Panel losses{"", "loss per record", false, {}, "no loss is known here: withheld, or nothing was learned"};
  Panel accuracies{"", "accuracy in %", false, {}, ""};
  Panel consensus{"", "consensus error", true, {}, "all models are equal"};
  add_progressive(losses, history, &NetworkFigures::loss, 1);
  losses.curves.push_back(curve_of(history, &NetworkFigures::test_loss, "on the test set"));
  add_progressive(accuracies, history, &NetworkFigures::accuracy, 100);
  accuracies.curves.push_back(curve_of(history, &NetworkFigures::test_accuracy, "on the test set", 100));
  consensus.curves.push_back(
      curve_of(history, &NetworkFigures::consensus_error, "mean squared distance to the mean model"));
  std::vector<Panel> panels{std::move(losses)};
  if (any_known(accuracies)) panels.push_back(std::move(accuracies));
  panels.push_back(std::move(consensus));
  return panels;
}

Panel panel_of(const Convergence& convergence) {
  Panel panel{"Models' distance to " + convergence.target,
              "distance",
              true,
              {},
              "no distance on record: all models are where they end, or are unreadable"};
  for (std::size_t u = 0; u < convergence.clients.size(); ++u) {
    Curve curve{fmt::format("client {}", convergence.clients[u]), {}};
    for (std::size_t r = 0; r < convergence.rounds.size(); ++r) {
      curve.points.emplace_back(static_cast<double>(convergence.rounds[r]), convergence.distances[r][u]);
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

}  // namespace

Convergence convergence_to(const RecordedModels& models, View target, const std::string& target_name) {
  const std::size_t drawn = std::min(models.clients.size(), most_drawn_clients);
  check<DataError>(drawn == 0 || models.dimension == target.size(),
                   "the final model has {} coordinates and the recorded ones {} (summary.json and run.h5 are not of "
                   "one run) restore them",
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
  if (!curves.figures.empty()) pictures.push_back({"figures", curves.figures});
  return draw(folder, "pictures.gp", pictures, formats);
}

}  // namespace starling
