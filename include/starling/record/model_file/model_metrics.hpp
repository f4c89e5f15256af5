/// Metrics of a saved model's predictions.
#pragma once

#include <optional>

#include "starling/core/batch.hpp"
#include "starling/record/figures/test_metrics.hpp"
#include "starling/record/model_file/saved_model.hpp"

namespace starling {

/// The meaning of the model's scores; none for a model that predicts no label: a location, expert advice, or an own
/// model without predictions or without its code.
[[nodiscard]] std::optional<PredictionForm> prediction_form(const SavedModel& model);

/// Metrics of the predictions for records whose labels are in the form of the loss. Errors of a regression on a
/// standardised label are in the label's own units. The model must predict labels.
[[nodiscard]] TestMetrics metrics_of(const SavedModel& model, const Batch& records);

}  // namespace starling
