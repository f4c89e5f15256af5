#include "result_files.hpp"

#include <algorithm>
#include <string>

#include "console/print.hpp"
#include "core/text/per_client.hpp"
#include "data/serving/dataset.hpp"
#include "output/directory/run_directory.hpp"
#include "output/intervals/interval.hpp"
#include "output/model_file/saved_model.hpp"
#include "report/pictures/picture.hpp"
#include "report/summary.hpp"
#include "report/view/summary_view.hpp"
#include "run/settings/learning_config.hpp"
#include "run/stages/play.hpp"

namespace starling {

namespace {

/// The constants of preparation without all that come from files, where clients have files of their own.
PublicConstants common_part(const PublicConstants& constants, bool own) {
  if (!own) return constants;
  PublicConstants common;
  common.columns = constants.columns;
  common.features = constants.features;
  common.label = constants.label;
  common.scale = constants.scale;
  common.description = constants.description;
  common.positive = constants.positive;
  common.class_labels = constants.class_labels;
  common.ignore = constants.ignore;
  return common;
}

}  // namespace

SavedModel completed(SavedModel model, const Vector& parameters, const DataSettings& settings, const Dataset& records) {
  model.parameters = parameters;
  model.own_constants = std::ranges::any_of(constants_files(settings), is_per_client);
  model.constants = common_part(records.constants.value_or(PublicConstants()), model.own_constants);
  if (model.constants.features == 0 || records.shape.sparse) model.constants.features = records.shape.features;
  return model;
}

void write_result_files(const RunDirectory& directory, const Summary& summary, const OwnResults& own,
                        const std::optional<SavedModel>& model) {
  finish_run_file(directory, summary);
  write_summary(directory, summary);
  if (model) write_model(fmt::format("{}/{}", directory.path(), model_file_name), *model);
  const std::vector<Interval>& intervals = summary.get<RunIntervals>().intervals;
  if (!intervals.empty()) write_coefficients(directory, intervals);
  if (const auto* const regret = summary.find<Regret>()) write_regret_curve(directory.path(), regret->curve);
  if (own.write) own.write();
}

void draw_results(const RunDirectory& directory, Summary& summary, const OwnResults& own,
                  const std::vector<NetworkFigures>& history) {
  const std::string& folder = directory.path();
  const RecordedModels models = read_models(folder);
  const auto* const regret = summary.find<Regret>();
  const bool compared = regret != nullptr && regret->fixed;
  RunCurves curves{history, convergence_to(models, summary.get<FinalModels>().mean, own.model)};
  curves.components = components_of(folder, models, compared ? View(regret->fixed->comparator.x) : View());
  if (regret != nullptr) curves.regret = regret->curve;
  curves.figures = panels_of(SummaryView(json_of(summary), "summary.json"));
  write_convergence(folder, curves.convergence);
  std::vector<std::string> problems;
  if (own.draw) problems = own.draw(history);
  problems.push_back(draw_pictures(folder, curves, {}));
  std::erase(problems, "");
  if (problems.empty()) return;
  summary.notes.push_back(problems.back());
  write_summary(directory, summary);
}

void print_summary(const Summary& summary, const LearningConfig& config) {
  print(config.json ? to_json(summary) + "\n"
                    : "\n" + to_table(summary, config.verbose) + files_row(summary.run_directory));
}

}  // namespace starling
