/// The survival curve of a model of discrete hazards.
#pragma once

#include <string>

#include "output/model_file/saved_model.hpp"

namespace starling {

/// A table of the curve: for the end of each interval the probability of an event in it, and that of no event until
/// then, with 95 % bands where the model has the covariance of its coefficients (docs/methods/counts-and-times.md).
///
/// The model is linear, of one score with the link logit or hazard, and has the features that `starling data convert
/// --survival` makes. `profile` says whose curve it is, as NAME=VALUE,… in the units of the data. Other features have
/// their public mean where the model standardises them, else 0. Throws UsageError for another model or profile.
[[nodiscard]] std::string survival_text(const SavedModel& model, const std::string& profile);

}  // namespace starling
