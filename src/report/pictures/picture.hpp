/// Pictures of runs, drawn by gnuplot, and the table convergence.csv.
#pragma once

#include <string>
#include <vector>

#include "output/directory/history.hpp"
#include "regret/regret.hpp"
#include "report/pictures/pictures.hpp"
#include "report/view/panel.hpp"
#include "report/view/run_reading.hpp"

namespace starling {

/// Distance of up to ten recorded clients' models to one model, by recorded round.
struct Convergence {
  std::string target;  ///< "the final mean model"
  std::vector<Client> clients;
  std::vector<Round> rounds;
  std::vector<Vector> distances;  ///< by record, then by client
};

/// Distances to a target model. Throws DataError if it has another dimension.
[[nodiscard]] Convergence convergence_to(const RecordedModels& models, View target, const std::string& target_name);
/// Distances to the mean over the recorded clients at the last record, for unfinished runs.
[[nodiscard]] Convergence convergence_so_far(const RecordedModels& models);

/// Writes FOLDER/convergence.csv: rounds, then a column for each client. Throws FailureError.
void write_convergence(const std::string& folder, const Convergence& convergence);

/// The first up to six components of up to ten recorded clients' models, by recorded round.
struct Components {
  std::vector<Client> clients;
  std::vector<Round> rounds;
  std::size_t count = 0;
  Vector values;                        ///< records × clients × count
  std::vector<std::string> names = {};  ///< of the components; empty: they are numbered
  Vector comparator;  ///< `count` components of the best model in hindsight; empty where there is none
};

/// Components are named by the run's model file, if it is there. `comparator` is a whole model, or empty. Throws
/// DataError if it has another dimension.
[[nodiscard]] Components components_of(const std::string& run, const RecordedModels& models, View comparator);

/// The data of a run's pictures.
struct RunCurves {
  std::vector<NetworkFigures> history;
  Convergence convergence;
  Components components = {};
  std::optional<RegretCurve> regret = {};
  std::vector<Panel> figures = {};  ///< panels of recorded figures
};

/// Draws loss.svg (losses, accuracies where they are known, consensus error), convergence.svg, components.svg (the best
/// model in hindsight dashed), regret.svg (regret per round with its fitted line) where there is regret, and
/// figures.svg where there are recorded figures with a curve. Each is drawn in each format. Returns a
/// sentence that says why pictures are missing, or an empty string.
[[nodiscard]] std::string draw_pictures(const std::string& folder, const RunCurves& curves, PictureFormats formats);

}  // namespace starling
