// The model file of a run.
#include "app/console/version.hpp"
#include "learning_run.hpp"
#include <algorithm>

#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/privacy/statement/statement.hpp"
#include "starling/record/model_file/model_metrics.hpp"

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
  return common;
}

}  // namespace

std::optional<SavedModel> LearningRun::model_of(const Summary& summary) const {
  std::optional<SavedModel> model = model_of_results();
  if (!model) return model;
  model->parameters = summary.model_by_mass;
  model->own_constants = std::ranges::any_of(constants_files(common().data), is_per_client);
  model->constants = common_part(dataset_.constants.value_or(PublicConstants()), model->own_constants);
  if (model->constants.features == 0 || dataset_.shape.sparse) model->constants.features = dataset_.shape.features;
  return model;
}

/// Adds the metrics of the model's predictions on --test, if the model predicts labels. Rank 0's.
void LearningRun::score_model(Summary& summary) const {
  if (!test_) return;
  const std::optional<SavedModel> model = model_of(summary);
  if (model && prediction_form(*model)) summary.test_metrics = metrics_of(*model, *test_);
}

std::vector<std::pair<std::string, std::string>> LearningRun::origin_of_model(const Summary& summary) const {
  std::vector<std::pair<std::string, std::string>> origin{{"command", command_},
                                                          {"command_line", command_line_},
                                                          {"run_id", run_id_},
                                                          {"starling", version()},
                                                          {"configuration_digest", sha256(configuration_)},
                                                          {"data_digest", dataset_.digest},
                                                          {"clients", std::to_string(summary.clients)},
                                                          {"rounds", std::to_string(summary.rounds)}};
  if (privacy_) origin.emplace_back("privacy", statement(summary.privacy));
  return origin;
}

/// Writes model.h5. Rank 0's.
void LearningRun::save_model(const Summary& summary) const {
  std::optional<SavedModel> model = model_of(summary);
  if (!model) return;
  model->origin = origin_of_model(summary);
  write_model(fmt::format("{}/{}", directory_->path(), model_file_name), *model);
}

}  // namespace starling
