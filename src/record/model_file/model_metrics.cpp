#include "starling/record/model_file/model_metrics.hpp"

#include <algorithm>

#include "starling/core/check.hpp"
#include "starling/protocol/own_model/own_model.hpp"
#include "starling/record/model_file/scorer.hpp"

namespace starling {

std::optional<PredictionForm> prediction_form(const SavedModel& model) {
  if (model.kind == SavedModel::Kind::location) return std::nullopt;
  if (model.kind == SavedModel::Kind::own && (!model.own || !model.own->predicts())) return std::nullopt;
  PredictionForm form = PredictionForm::of(*ModelLoss(model));
  form.names_classes = model.kind == SavedModel::Kind::own && form.classifies;
  if (!form.predicts()) return std::nullopt;
  return form;
}

TestMetrics metrics_of(const SavedModel& model, const Batch& records) {
  constexpr std::size_t at_once = 512;
  const std::optional<PredictionForm> form = prediction_form(model);
  check<FailureError>(form.has_value(), "metrics of a model that predicts no label: this is a fault of the program.");
  const bool standardised = form->link == Link::identity && model.constants.label_standardisation;
  const Standardisation units = standardised ? *model.constants.label_standardisation : Standardisation();
  const auto own_units = [&](double value) { return value * units.deviation + units.mean; };
  PredictionTally tally(*form);
  Scorer scorer(model);
  Batch part;
  Vector scores;
  for (std::size_t first = 0; first < records.size(); first += at_once) {
    part.show(records, first, std::min(at_once, records.size() - first));
    scorer.score(part, scores);
    if (standardised) std::ranges::transform(scores, scores.begin(), own_units);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const double label = standardised ? own_units(part.label(i)) : part.label(i);
      tally.add(View(scores).subspan(i * model.scores, model.scores), label);
    }
  }
  return tally.metrics();
}

}  // namespace starling
